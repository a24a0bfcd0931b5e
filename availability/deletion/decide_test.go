// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
)

// DP-5: what is decided already is not counted.
func TestCounted(t *testing.T) {
	for decision, n := range map[deletion.Decision]int{{Reason: "because"}: 0, {}: 3} {
		if got := decision.Counted(n); got != decision {
			t.Errorf("%+v becomes %+v", decision, got)
		}
	}
}

// DP-1: other kinds are not protected, those of the same name in other groups neither.
func TestDecideOtherKinds(t *testing.T) {
	always := &metav1.ObjectMeta{Labels: map[string]string{"policy.kruise.io/delete-protection": "Always"}}
	for _, kind := range []schema.GroupKind{
		{Group: "apps", Kind: "DaemonSet"}, {Kind: "Pod"}, {Group: "shop.io", Kind: "StatefulSet"}, {Group: "extensions", Kind: "Ingress"}, {},
	} {
		if got := deletion.Decide(kind, always, new(int32(3))); got != (deletion.Decision{}) {
			t.Errorf("%v: %+v", kind, got)
		}
	}
}
