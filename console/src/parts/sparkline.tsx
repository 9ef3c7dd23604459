/** Sparkline draws numbers as a small line, the newest at the right. It is for looks: the number stands beside it. */
export function Sparkline({ values, length = 30, label }: { values: number[]; length?: number; label: string }) {
  const [width, height] = [72, 20]
  const most = Math.max(...values, 0)
  if (values.length < 2 || most === 0) {
    return <svg width={width} height={height} aria-hidden="true" focusable="false" />
  }
  const step = width / (length - 1)
  const shown = values.slice(-length)
  const points = shown
    .map(
      (v, i) =>
        `${(width - (shown.length - 1 - i) * step).toFixed(1)},${(height - 2 - (v / most) * (height - 4)).toFixed(1)}`,
    )
    .join(' ')
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      <polyline points={points} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinejoin="round" />
    </svg>
  )
}
