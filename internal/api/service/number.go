package service

import "strings"

// ValidNumber reports whether s is a decimal number of up to 38 significant digits and a magnitude from 10^-128 to
// 10^126, or 0. Its zeros are kept unchanged: the checksums that clients compare cover the text that they sent.
func ValidNumber(s string) bool {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(unsigned(s)), "e")
	shift := 0
	if hasExponent {
		digits := unsigned(exponent)
		if digits == "" || !isDigits(digits) {
			return false
		}
		digits = strings.TrimLeft(digits, "0")
		if len(digits) > 4 {
			digits = "9999" // too much for any mantissa but 0
		}
		for _, c := range []byte(digits) {
			shift = shift*10 + int(c-'0')
		}
		if exponent[0] == '-' {
			shift = -shift
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !isDigits(whole) || !isDigits(fraction) {
		return false
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return true
	}
	// The first significant digit stands for 10^magnitude.
	magnitude := len(digits) - len(fraction) - 1 + shift
	digits = strings.TrimRight(digits, "0")
	return len(digits) <= 38 && magnitude >= -128 && (magnitude < 126 || magnitude == 126 && digits == "1")
}

// unsigned returns s without its sign.
func unsigned(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
