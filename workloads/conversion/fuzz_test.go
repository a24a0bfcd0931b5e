// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/workloads/conversion"
)

// DS-V3: whatever the bytes are, there is no panic, and what has been in both versions twice goes there and back unchanged.
func FuzzDaemonSet(f *testing.F) {
	for _, fields := range []string{
		`"spec":{}`, `"metadata":null,"spec":null,"status":{"daemonSetHash":"a","updateRevision":"b"}`,
		`"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"partition":"30%"}}}`,
		`"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"partition":1e400}}}`,
		`"spec":{"scaleStrategy":{"partitionedScaling":true}}`, `"spec":{"scaleStrategy":7}`,
		`"metadata":{"annotations":` + former(`{"spec":{"scaleStrategy":{"partitionedScaling":true}}}`) + `},"spec":{}`, `"metadata":{"annotations":` + former(`{"spec":{"scaleStrategy":7}}`) + `}`,
		`"metadata":{"annotations":` + kept(`{"spec":{"scaleStrategy":{"partitionedScaling":true}}}`, `{"spec":{"scaleStrategy":7}}`) + `}`,
		`"metadata":{"annotations":{"podwright.github.io/v1beta1-fields":"{"}},"spec":{"scaleStrategy":null}`,
	} {
		f.Add([]byte(ofKind("DaemonSet", alpha, fields)))
		f.Add([]byte(ofKind("DaemonSet", beta, fields)))
	}
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		inAlpha, inBeta := data, data
		for range 2 {
			var err error
			if inAlpha, err = conversion.DaemonSet(inBeta, alpha); err != nil {
				return
			}
			if inBeta, err = conversion.DaemonSet(inAlpha, beta); err != nil {
				if strings.Contains(err.Error(), "annotation") {
					t.Errorf("%s is stored and cannot be read: %v", inAlpha, err)
				}
				return // it does not fit the schema
			}
		}
		again, err := conversion.DaemonSet(inBeta, alpha)
		if err != nil || !cmp.Equal(tree(t, inAlpha), tree(t, again)) {
			t.Errorf("%s gave in v1alpha1\n%s and then\n%s, error %v", data, inAlpha, again, err)
		}
		if again, err = conversion.DaemonSet(again, beta); err != nil || !cmp.Equal(tree(t, inBeta), tree(t, again)) {
			t.Errorf("%s gave in v1beta1\n%s and then\n%s, error %v", data, inBeta, again, err)
		}
	})
}
