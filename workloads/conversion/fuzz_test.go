// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/conformance"
)

// DS-V3: whatever the bytes are, there is no panic, and what has been in both versions twice goes there and back unchanged. What a DaemonSet has
// kept can be read again; of a StatefulSet it may be of a wrong type.
func FuzzConversions(f *testing.F) {
	for _, kind := range []string{"StatefulSet", "DaemonSet"} {
		for _, fields := range []string{
			`"spec":{}`, `"metadata":null,"spec":null,"status":{"daemonSetHash":"a","updateRevision":"b"}`,
			`"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"partition":"30%"}}}`,
			`"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1,"partition":1e400}}}`,
			`"spec":{"scaleStrategy":{"partitionedScaling":true}}`, `"spec":{"scaleStrategy":7}`,
			`"metadata":{"annotations":` + former(`{"spec":{"scaleStrategy":{"partitionedScaling":true}}}`) + `},"spec":{}`,
			`"metadata":{"annotations":` + former(`{"spec":{"scaleStrategy":7}}`) + `}`,
			`"metadata":{"annotations":` + kept([2]string{"spec.scaleStrategy.partitionedScaling", "true"}, [2]string{"spec.scaleStrategy", "7"}) + `}`,
			`"metadata":{"annotations":{"podwright.github.io/v1beta1-fields":"{"}},"spec":{"scaleStrategy":null}`,
			`"metadata":{"annotations":{}},"status":{"updatedReadyReplicas":1}`,
			`"metadata":{"name":"web"},"spec":{"replicas":1e400,"reserveOrdinals":[1,2],"lifecycle":{"preDelete":{}},"new":"\ud800"}`,
			`"metadata":{"annotations":{"a":"b","podwright.github.io/v1beta1-fields":"{\"spec\":{\"reserveOrdinals\":[1]}}"}},"spec":{"lifecycle":null}`,
			`"metadata":{"annotations":` + kept([2]string{"spec.ordinals", "{}"}, [2]string{"spec.ordinals.start", "1"}, [2]string{"spec.lifecycle", "null"}) + `}`,
		} {
			f.Add(kind, []byte(ofKind(kind, alpha, fields)))
			f.Add(kind, []byte(ofKind(kind, beta, fields)))
		}
		for _, other := range []string{`null`, `[]`, `{"kind":"StatefulSet","apiVersion":7}`} {
			f.Add(kind, []byte(other))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		convert := byKind[kind]
		if convert == nil {
			return
		}
		inAlpha, inBeta := data, data
		for range 2 {
			var err error
			if inAlpha, err = convert(inBeta, alpha); err != nil {
				return
			}
			if inBeta, err = convert(inAlpha, beta); err != nil {
				if kind == "DaemonSet" && strings.Contains(err.Error(), "annotation") {
					t.Errorf("%s is stored and cannot be read: %v", data, err)
				}
				return
			}
		}
		again, err := convert(inBeta, alpha)
		if err != nil || !cmp.Equal(conformance.Tree(t, inAlpha), conformance.Tree(t, again)) {
			t.Errorf("%s gave in v1alpha1\n%s and then\n%s, error %v", data, inAlpha, again, err)
		}
		if again, err = convert(again, beta); err != nil || !cmp.Equal(conformance.Tree(t, inBeta), conformance.Tree(t, again)) {
			t.Errorf("%s gave in v1beta1\n%s and then\n%s, error %v", data, inBeta, again, err)
		}
	})
}
