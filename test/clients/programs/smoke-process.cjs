const process = require("node:process");

exports.run = async (smoke) => console.log(JSON.stringify(await smoke(process.env)));
