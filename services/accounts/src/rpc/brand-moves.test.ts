import { expectRefusal, servedAccounts, type TestBrand } from "../../test/serve-accounts.ts";

/** One promise: a brand is in one move at most, whose steps come in their order, and none while it is deleted. */

const served = servedAccounts();
let brand: TestBrand;
let brand_id: string;

beforeEach(async () => {
  brand = await served.createBrand();
  brand_id = brand.id;
});

const begin = (cell: string | null) => served.operator.beginBrandMove({ brand_id, cell });
const beginSwitch = () => served.operator.beginBrandSwitch({ brand_id });
const setCell = (cell: string | null) => served.accounts.setBrandCell({ brand_id, cell });
const end = (abort = false) => served.operator.endBrandMove({ brand_id, abort });
const expectConflict = (call: Promise<unknown>) => expectRefusal(call, "request_conflict");
const ours = async () => (await served.operator.listBrandMoves({})).moves.filter((move) => move.brand_id === brand_id);

it("takes the brand from copying over switching, which raises its epoch, to clearing", async () => {
  const { move } = await begin("b");
  expect(move).toMatchObject({ brand_id, from_cell: null, to_cell: "b", step: "copying", settles_in_ms: expect.any(Number) });
  await expectConflict(setCell("b"));
  await expectConflict(end());
  await beginSwitch();
  await beginSwitch();
  await expectConflict(setCell("c"));
  const epoch = await served.epochOf(brand);
  expect((await setCell("b")).brand).toMatchObject({ cell: "b" });
  expect(await served.epochOf(brand)).toBeGreaterThan(epoch);
  await setCell("b");
  expect(await ours()).toMatchObject([{ step: "clearing" }]);
  await expectConflict(beginSwitch());
  await expectConflict(end(true));
  await end();
  await end();
  expect(await ours()).toEqual([]);
  expect(await begin(null)).toMatchObject({ move: { from_cell: "b", to_cell: null } });
});

it("aborts one that has not switched, and leaves the brand where it is", async () => {
  for (const step of [begin("b"), beginSwitch]) await (typeof step === "function" ? step() : step);
  await end(true);
  expect((await served.accounts.getBrand({ brand_id })).brand).toMatchObject({ cell: null });
  await expectConflict(beginSwitch());
});

it("refuses a second move, one to where the brand is, and returns the same again", async () => {
  await expectConflict(begin(null));
  const { move } = await begin("b");
  expect((await begin("b")).move).toMatchObject({ started_at: move?.started_at });
  await expectConflict(begin("c"));
  await expectRefusal(served.operator.beginBrandMove({ brand_id, cell: "B" }), "invalid_request", "cell");
});

it("refuses to delete a brand that moves, and to move one that is deleted", async () => {
  const remove = () => served.operator.beginBrandDeletion({ brand_id, resume: false });
  await begin("b");
  await expectConflict(remove());
  expect((await served.accounts.getBrand({ brand_id })).brand?.deletion_started_at).toBeNull();
  await end(true);
  await remove();
  await expectRefusal(begin("b"), "not_found", "brand_id");
});
