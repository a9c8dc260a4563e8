it("ok", async () => { console.error("started"); await new Promise(r => setTimeout(r, Number(process.env.SLOW ?? 0))); });
it("bad", () => { if (process.env.BAD) throw new Error("x"); });
it.skip("s", () => {});
it.todo("t");
