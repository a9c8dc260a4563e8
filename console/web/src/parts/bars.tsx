import { Box, Group, Text } from "@mantine/core";
import styles from "./bars.module.css";

interface Bar {
  /** The bar's time span in words: "22 Nov, 09:00". */
  readonly label: string;
  /** Stacked from the bottom, in the order of the series. */
  readonly values: readonly number[];
}

interface BarsProps {
  readonly title: string;
  readonly series: readonly { readonly name: string; readonly tone: "good" | "bad" | "quiet" }[];
  readonly bars: readonly Bar[];
  /** A line across, such as the rate limit. */
  readonly limit?: number;
  /** 60 px, for a page on which something else matters more. */
  readonly isLow?: boolean;
}

const [WIDTH, HEIGHT] = [600, 96];

/** Stacked bars over time. The picture is decoration; the table below it has the same numbers for everyone. */
export function Bars({ title, series, bars, limit, isLow = false }: BarsProps) {
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const top = Math.max(1, limit ?? 0, ...totals);
  const width = WIDTH / Math.max(1, bars.length);
  return (
    <Box component="figure" m={0}>
      <Group component="figcaption" gap="var(--space-4) var(--space-16)" mb="var(--space-8)">
        <Text fw={600} size="sm">
          {title}
        </Text>
        {series.map(({ name, tone }) => (
          <span key={name} className={styles["key"]} data-tone={tone}>
            {name}
          </span>
        ))}
        {limit !== undefined && <span className={`${styles["key"]} ${styles["line"]}`}>Limit {limit.toLocaleString("en-PH")}</span>}
        {isLow && <Scale top={top} />}
      </Group>
      {!isLow && <Scale top={top} />}
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={`${styles["bars"]} ${isLow ? styles["low"] : ""}`}
        aria-hidden="true"
      >
        {bars.map(({ label, values }, index) => {
          let y = HEIGHT;
          return values.map((value, which) => {
            const height = (value / top) * HEIGHT;
            y -= height;
            return (
              <rect
                key={`${label} ${series[which]?.name}`}
                data-tone={series[which]?.tone}
                x={index * width + width * 0.1}
                y={y}
                width={width * 0.8}
                height={height}
              />
            );
          });
        })}
        {limit !== undefined && (
          <line className={styles["limit"]} x1={0} x2={WIDTH} y1={HEIGHT - (limit / top) * HEIGHT} y2={HEIGHT - (limit / top) * HEIGHT} />
        )}
        {bars.map(({ label, values }, index) => (
          <rect key={label} className={styles["hover"]} x={index * width} y={0} width={width} height={HEIGHT}>
            <title>{`${label}: ${values.map((value, which) => `${value.toLocaleString("en-PH")} ${series[which]?.name.toLowerCase()}`).join(", ")}`}</title>
          </rect>
        ))}
      </svg>
      <Group className={styles["scale"] ?? ""} justify="space-between" gap="md" mt="var(--space-4)" wrap="nowrap" aria-hidden>
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </Group>
      <details className={styles["details"]}>
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ label, values }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {values.map((value, which) => (
                  <td key={series[which]?.name}>{value.toLocaleString("en-PH")}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </Box>
  );
}

/** How many the highest bar stands for. The table has it for people who do not see the bars. */
const Scale = ({ top }: { readonly top: number }) => (
  <div className={styles["scale"]} aria-hidden="true">
    {top.toLocaleString("en-PH")}
  </div>
);
