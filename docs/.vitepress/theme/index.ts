import theme from "vitepress/theme";
// A style sheet is imported for its effect.
// oxlint-disable-next-line import/no-unassigned-import
import "./style.css";

export default theme;
