import { effect, signal } from "@preact/signals";

/** The theme: that of the system, or the one that the user chose. */
export const theme = signal<"system" | "light" | "dark">("system");

/** Changes with what is shown, so that the canvas is painted again. */
export const isDark = signal(false);

/** Follows the system and the choice of the user. */
export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const update = (): void => {
    document.documentElement.dataset["theme"] = theme.value;
    isDark.value = theme.value === "dark" || (theme.value === "system" && system.matches);
  };
  system.addEventListener("change", update);
  effect(update);
}

export const toggleTheme = (): void => void (theme.value = isDark.value ? "light" : "dark");
