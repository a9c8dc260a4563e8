/** Grafana's grid. */
const COLUMNS = 24;
const HEIGHT = 8;
/** Every dashboard and panel reads from the data source that the reader chooses. */
const DATA_SOURCE = { type: "prometheus", uid: "${datasource}" };

/**
 * @typedef {object} Panel
 * @property {string} description
 * @property {string} unit of Grafana: s, reqps, percentunit, short, bytes, ops, dateTimeFromNow
 * @property {Readonly<Record<string, string>>} queries by legend, with labels in double braces
 * @property {boolean} [stat] the last value alone
 * @property {number} [bad] from here on it is red
 * @property {boolean} [stacked]
 */

/** @typedef {Readonly<Record<string, Readonly<Record<string, Panel>>>>} Rows panels by their titles, by the titles of the rows */

/**
 * Returns a dashboard as Grafana imports it. Panels flow from left to right.
 *
 * @param {{ uid: string, title: string, description: string, rows: Rows }} dashboard
 */
export function dashboard({ uid, title, description, rows }) {
  const panels = layOut(rows);
  return {
    uid,
    title,
    description,
    tags: ["brand-records"],
    schemaVersion: 39,
    version: 1,
    editable: true,
    time: { from: "now-6h", to: "now" },
    refresh: "30s",
    timezone: "browser",
    links: [{ type: "dashboards", title: "Brand Records", tags: ["brand-records"], asDropdown: false, keepTime: true }],
    templating: { list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }] },
    annotations: {
      list: [
        {
          name: "Alerts",
          datasource: DATA_SOURCE,
          enable: true,
          iconColor: "red",
          expr: 'ALERTS{alertstate="firing",job=~"brand-records|",severity!="none"}',
          titleFormat: "{{alertname}} {{severity}} {{service}}",
        },
      ],
    },
    panels,
  };
}

/** @param {Rows} rows */
function layOut(rows) {
  /** @type {object[]} */
  const placed = [];
  let y = 0;
  for (const [title, panels] of Object.entries(rows)) {
    placed.push({ id: placed.length + 1, type: "row", title, collapsed: false, panels: [], gridPos: { x: 0, y, w: COLUMNS, h: 1 } });
    y += 1;
    let x = 0;
    for (const [name, panel] of Object.entries(panels)) {
      const [w, h] = panel.stat ? [6, HEIGHT / 2] : [8, HEIGHT];
      if (x + w > COLUMNS) {
        x = 0;
        y += h;
      }
      placed.push(toGrafana(name, panel, placed.length + 1, { x, y, w, h }));
      x += w;
    }
    y += Object.values(panels).at(-1)?.stat ? HEIGHT / 2 : HEIGHT;
  }
  return placed;
}

/**
 * @param {string} title
 * @param {Panel} panel
 * @param {number} id
 * @param {{ x: number, y: number, w: number, h: number }} gridPos
 */
function toGrafana(title, { description, unit, queries, stat = false, bad, stacked = false }, id, gridPos) {
  const steps = [{ color: "green", value: null }, ...(bad === undefined ? [] : [{ color: "red", value: bad }])];
  const custom = { fillOpacity: stacked ? 30 : 5, showPoints: "never", stacking: { mode: stacked ? "normal" : "none" } };
  const line = bad === undefined ? {} : { thresholdsStyle: { mode: "line" } };
  return {
    id,
    type: stat ? "stat" : "timeseries",
    title,
    description,
    datasource: DATA_SOURCE,
    gridPos,
    fieldConfig: {
      defaults: {
        unit,
        thresholds: { mode: "absolute", steps },
        ...(!stat && { color: { mode: "palette-classic" }, custom: { ...custom, ...line } }),
      },
      overrides: [],
    },
    options: stat
      ? { reduceOptions: { calcs: ["lastNotNull"] }, colorMode: "value", graphMode: "area" }
      : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: Object.entries(queries).map(([legend, expr], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATA_SOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}
