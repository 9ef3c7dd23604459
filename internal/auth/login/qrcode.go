package login

import (
	"fmt"
	"net/url"

	"rsc.io/qr"
)

// QRCode returns the QR code with the seed of a device of an account, as a PNG. Its content has AWS's documented form.
func QRCode(device, account, seed string) ([]byte, error) {
	code, err := qr.Encode(
		fmt.Sprintf("otpauth://totp/%s@%s?secret=%s", url.PathEscape(device), account, seed), qr.M,
	)
	if err != nil {
		return nil, fmt.Errorf("draw the seed of %s: %w", device, err)
	}
	return code.PNG(), nil
}
