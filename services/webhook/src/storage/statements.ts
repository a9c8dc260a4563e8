export { firstOf as first, isFound, statementsOf } from "@brand-records/postgres";
