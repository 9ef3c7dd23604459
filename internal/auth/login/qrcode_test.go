package login

import (
	"bytes"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"rsc.io/qr"
)

// The picture has the content that AWS documents, with a margin.
func TestQRCode(t *testing.T) {
	const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
	for _, device := range []string{"phone", "a+b=c.d@e-f_g", strings.Repeat("x", 226)} {
		picture, err := QRCode(device, "111122223333", seed)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		want, err := qr.Encode("otpauth://totp/"+device+"@111122223333?secret="+seed, qr.M)
		if err != nil {
			t.Fatal(err)
		}
		const border, scale = 4, 8
		if size := drawn.Bounds().Dx(); size != (want.Size+2*border)*scale || size != drawn.Bounds().Dy() {
			t.Fatalf("%s: %v", device, drawn.Bounds())
		}
		for y := -border; y < want.Size+border; y++ {
			for x := -border; x < want.Size+border; x++ {
				c := color.GrayModel.Convert(drawn.At((x+border)*scale, (y+border)*scale)).(color.Gray)
				if (c.Y == 0) != want.Black(x, y) {
					t.Fatalf("%s: the square %d, %d is %v", device, x, y, c)
				}
			}
		}
	}
}
