// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/conformance"
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
		if err := checkStable(t, conversion.DaemonSet, data); err != nil && strings.Contains(err.Error(), "annotation") {
			t.Errorf("%s is stored and cannot be read: %v", data, err)
		}
	})
}

// Whatever the bytes are: no panic, and what has been in both versions once goes
// there and back unchanged from then on.
func FuzzStatefulSet(f *testing.F) {
	for _, fields := range []string{
		`"spec":{}`, `"metadata":null,"spec":null`, `"metadata":{"annotations":{}},"status":{"updatedReadyReplicas":1}`,
		`"metadata":{"name":"web"},"spec":{"replicas":1e400,"reserveOrdinals":[1,2],"lifecycle":{"preDelete":{}},"new":"\ud800"}`,
		`"metadata":{"annotations":{"a":"b","podwright.github.io/v1beta1-fields":"{\"spec\":{\"reserveOrdinals\":[1]}}"}},"spec":{"lifecycle":null}`,
		`"metadata":{"annotations":` + kept(`{"spec":{"ordinals":{}}}`, `{"spec":{"ordinals":{"start":1}}}`, `{"spec":{"lifecycle":null}}`) + `}`,
	} {
		f.Add([]byte(set(alpha, fields)))
		f.Add([]byte(set(beta, fields)))
	}
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"kind":"StatefulSet","apiVersion":7}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = checkStable(t, conversion.StatefulSet, data) // what was kept may be of a wrong type
	})
}

// checkStable checks that what has been in both versions twice goes there and back unchanged. It returns why v1beta1 cannot be had again.
func checkStable(t *testing.T, convert conformance.Convert, data []byte) error {
	t.Helper()
	inAlpha, inBeta := data, data
	for range 2 {
		var err error
		if inAlpha, err = convert(inBeta, alpha); err != nil {
			return nil
		}
		if inBeta, err = convert(inAlpha, beta); err != nil {
			return err
		}
	}
	again, err := convert(inBeta, alpha)
	if err != nil || !cmp.Equal(tree(t, inAlpha), tree(t, again)) {
		t.Errorf("%s gave in v1alpha1\n%s and then\n%s, error %v", data, inAlpha, again, err)
	}
	if again, err = convert(again, beta); err != nil || !cmp.Equal(tree(t, inBeta), tree(t, again)) {
		t.Errorf("%s gave in v1beta1\n%s and then\n%s, error %v", data, inBeta, again, err)
	}
	return nil
}
