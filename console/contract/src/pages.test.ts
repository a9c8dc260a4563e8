import { pageAt } from "./pages.ts";

it.each([
  ["/sign-in", { name: "signIn", id: undefined }],
  ["/developers", { name: "overview", id: undefined }],
  ["/developers/receivers/new", { name: "newReceiver", id: undefined }],
  ["/developers/receivers/rcv_1", { name: "receiver", id: "rcv_1" }],
  ["/developers/receivers/rcv_1/settings", { name: "receiverSettings", id: "rcv_1" }],
  ["/workspaces/blitz/plans/pln_1", { name: "plan", id: "pln_1" }],
  ["/developers/receivers/", undefined],
  ["/developers/nowhere", undefined],
])("finds the page at %s", (path, page) => {
  expect(pageAt(path)).toEqual(page);
});
