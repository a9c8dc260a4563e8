/**
 * Returns what the clients' types are written from, of the OpenAPI description: each list with its record and its filters, the events, and
 * the codes of errors.
 *
 * @param {any} description parsed
 */
export function describedTypes({ paths, webhooks, components }) {
  const lists = Object.entries(paths).flatMap(([path, { get }]) => {
    const component = /\/(\w+)List$/.exec(get?.responses["200"].content["application/json"]?.schema.$ref ?? "")?.[1];
    if (component === undefined) return [];
    const filters = get.parameters
      .map((parameter) => (parameter.$ref === undefined ? parameter : components.parameters[nameOf(parameter)]))
      .filter(({ name }) => !NOT_FILTERS.has(name))
      .map(({ description, ...filter }) => ({ ...filter, description: description.replace(" Write `+` as `%2B`.", "") }));
    return [{ resource: path.split("/").at(-1), component, schema: components.schemas[component], filters }];
  });
  const events = Object.values(components.pathItems).map(({ post }) => {
    const name = nameOf(post.requestBody.content["application/json"].schema);
    return { name, schema: components.schemas[name] };
  });
  const { CampaignPlanInput: planInput, CampaignPlan: plan, ErrorObject } = components.schemas;
  const { code, details } = ErrorObject.properties;
  const errors = { errorCodes: code["x-extensible-enum"], problemDetail: details.items };
  return { lists, planInput, plan, events, eventTypes: Object.keys(webhooks), ...errors };
}

/** Paging is an argument of its own, and `since` is superseded. */
const NOT_FILTERS = new Set(["limit", "cursor", "since"]);

const nameOf = ({ $ref }) => $ref.split("/").at(-1);
