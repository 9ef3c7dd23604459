// Package spelling finds the word that a misspelt one was meant to be.
package spelling

// Nearest returns which of the words a misspelt one was meant to be, or "".
func Nearest(misspelt string, words []string) string {
	best, least := "", 1+max(1, len(misspelt)/3)
	for _, w := range words {
		if d := distance(misspelt, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is how many letters must be added, removed or changed to turn a into b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the letters of a so far, to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
