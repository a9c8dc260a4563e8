import { createServer } from "node:http";

/** Stands in for a team chat on this machine: shows each message that the relay posts. */
createServer((request, response) => {
  request.setEncoding("utf8");
  request.on("data", (/** @type {string} */ text) => console.log(text));
  request.on("end", () => response.end("ok"));
}).listen(8791, "127.0.0.1", () => console.log("A chat for trials: RELAY_CHAT_URL=http://127.0.0.1:8791/"));
