/** Amount is a number with its unit, as a person writes it. */
export interface Amount {
  value: string
  unit: string
}
