// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"fmt"
	"strings"
	"testing"
)

func BenchmarkStatefulSet(b *testing.B) {
	for _, containers := range []int{1, 50} {
		container := `{"name":"main","image":"web:1","env":[{"name":"A","value":"` + strings.Repeat("x", 200) + `"}]}`
		object := []byte(set(beta, `"metadata":{"name":"web","annotations":{"a":"b"}},"spec":{"reserveOrdinals":[1,2,3],"template":{"spec":{"containers":[`+
			container+strings.Repeat(","+container, containers-1)+`]}}},"status":{"updatedReadyReplicas":3}`))
		b.Run(fmt.Sprintf("%d KiB there and back", len(object)>>10), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(object)))
			for b.Loop() {
				convert(b, convert(b, object, alpha), beta)
			}
		})
	}
}
