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
const startedAt = async () => (await ours())[0]?.started_at ?? "";
const switchOver = async () => served.operator.switchBrandMove({ brand_id, started_at: await startedAt() });
const cellOf = async () => (await served.accounts.getBrand({ brand_id })).brand?.cell;
const end = async (abort = false) => served.operator.endBrandMove({ brand_id, started_at: await startedAt(), abort });
const expectConflict = (call: Promise<unknown>) => expectRefusal(call, "request_conflict");
const ours = async () => (await served.operator.listBrandMoves({})).moves.filter((move) => move.brand_id === brand_id);

it("takes the brand from copying to clearing, in its new cell, which raises its epoch", async () => {
  const { move } = await begin("b");
  expect(move).toMatchObject({ brand_id, from_cell: null, to_cell: "b", step: "copying" });
  await expectConflict(end());
  const epoch = await served.epochOf(brand);
  await switchOver();
  expect(await cellOf()).toBe("b");
  expect(await served.epochOf(brand)).toBeGreaterThan(epoch);
  expect(await ours()).toMatchObject([{ step: "clearing" }]);
  await switchOver();
  expect(await ours()).toMatchObject([{ step: "clearing" }]);
  await expectConflict(end(true));
  await end();
  await end();
  expect(await ours()).toEqual([]);
  await expectConflict(switchOver());
  expect(await begin(null)).toMatchObject({ move: { from_cell: "b", to_cell: null } });
});

it("aborts one that has not switched, and leaves the brand where it is", async () => {
  await begin("b");
  await end(true);
  expect(await cellOf()).toBeNull();
  await expectConflict(switchOver());
});

it("takes nothing from the mover of an earlier move, which slept", async () => {
  const { move: earlier } = await begin("b");
  await end(true);
  await begin("b");
  const asleep = { brand_id, started_at: earlier?.started_at ?? "" };
  await expectConflict(served.operator.switchBrandMove(asleep));
  await expectConflict(served.operator.endBrandMove({ ...asleep, abort: true }));
  expect(await ours()).toMatchObject([{ step: "copying" }]);
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
