export { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
