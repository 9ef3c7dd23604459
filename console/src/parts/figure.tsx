import Box from '@cloudscape-design/components/box'
import { Num } from './values'

/** Figure is a number in large digits below its name. */
export function Figure({ title, value }: { title: string; value: number | undefined }) {
  return (
    <div>
      <Box variant="awsui-key-label">{title}</Box>
      <div className="figure">
        <Num value={value} />
      </div>
    </div>
  )
}
