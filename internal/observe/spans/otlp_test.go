package spans

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// The bytes are those that go.opentelemetry.io/proto/otlp v1.11.1 makes of the same spans.
func TestEncoding(t *testing.T) {
	t.Parallel()
	began := time.Unix(1767225600, 123456789)
	child := &span{
		origin: origin{trace: traceID{0: 0x57, 15: 0x93}, span: spanID{0: 0x53, 7: 0xd8}, flags: flagSampled, state: "a=b,c@d=e"},
		id:     spanID{1, 2, 3, 4, 5, 6, 7, 8}, kind: internalKind, name: "in flight größer", start: began, end: began.Add(time.Second),
		attrs:  attributes{text("error.type", "timeout"), text("empty", ""), number("zero", 0), number("n", -1), text("broken", "a\xffb")},
		failed: true,
	}
	root := &span{
		origin: origin{trace: traceID{1}, flags: flagSampled | flagRandom}, id: spanID{7: 9}, kind: serverKind, name: "SendMessage orders",
		start: began, end: began, attrs: attributes{number("http.response.status_code", 200)},
	}
	got := hex.EncodeToString(encode(attributes{text("service.name", "sluice")}, "v9", []*span{child, root}))
	if got != strings.ReplaceAll(encodedSpans, "\n", "") {
		t.Errorf("encoded as %s", got)
	}
}

const encodedSpans = `
0a97030a1a0a180a0c736572766963652e6e616d6512080a06736c7569636512cf020a200a1a6769746875622e636f6d2f736c75696365
6d712f736c756963651202763912ba010a1057000000000000000000000000000093120801020304050607081a09613d622c6340643d65
220853000000000000d82a12696e20666c69676874206772c3b6c39f657230013915cd55f551728618411597f030527286184a170a0a65
72726f722e7479706512090a0774696d656f75744a0b0a05656d70747912020a004a0a0a047a65726f120218004a100a016e120b18ffff
ffffffffffffff014a110a0662726f6b656e12070a0561efbfbd627a021802850101030000126e0a100100000000000000000000000000
0000120800000000000000092a1253656e644d657373616765206f726465727330023915cd55f5517286184115cd55f5517286184a200a
19687474702e726573706f6e73652e7374617475735f636f6465120318c8017a008501030100001a2768747470733a2f2f6f70656e7465
6c656d657472792e696f2f736368656d61732f312e34332e30
`
