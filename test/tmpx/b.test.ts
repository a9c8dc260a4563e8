if (process.env.BAD) throw new Error("does not load");
it("ok", () => {});
