// A page with nothing but the worker: what that prints, the tests read at the page.
new Worker("/worker.js", { type: "module" });
