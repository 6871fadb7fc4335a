// A page with nothing but the worker: what that prints, the tests read at the page.
const worker = new Worker("/worker.js", { type: "module" });
worker.addEventListener("error", ({ message }) => console.log(message));
