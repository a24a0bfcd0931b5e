// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
)

const (
	forbidden = "forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection="
	always    = forbidden + "Always"
)

// counts are the kinds of which something has to be counted.
var counts = map[string]deletion.Children{"Namespace": deletion.ActivePods, "CustomResourceDefinition": deletion.ActiveObjects}

func labelled(value string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Name: "web", Labels: map[string]string{"policy.kruise.io/delete-protection": value}}
}

// Every kind with every value of the label.
func TestDecide(t *testing.T) {
	deleting := labelled("Always")
	deleting.DeletionTimestamp = &metav1.Time{}
	deletingCascading := labelled("Cascading")
	deletingCascading.DeletionTimestamp = &metav1.Time{}
	for _, kind := range deletion.Kinds() {
		t.Run(kind.String(), func(t *testing.T) {
			count := counts[kind.Kind]
			if kind.Kind == "Service" || kind.Kind == "Ingress" {
				return // TestEndpoints
			}
			waits := deletion.Decision{Reason: forbidden + "Cascading and replicas 3>0"}
			if count != "" {
				waits = deletion.Decision{Count: count}
			}
			for _, test := range []struct {
				name     string
				object   *metav1.ObjectMeta
				replicas *int32
				want     deletion.Decision
			}{
				{"DP-1: no label", &metav1.ObjectMeta{}, new(int32(3)), deletion.Decision{}},
				{"DP-5: Always", labelled("Always"), new(int32(0)), deletion.Decision{Reason: always}},
				{"DP-5: Always, without replicas", labelled("Always"), nil, deletion.Decision{Reason: always}},
				{"DP-5: Cascading", labelled("Cascading"), new(int32(3)), waits},
				{"DP-E8: Cascading, scaled to 0", labelled("Cascading"), new(int32(0)), deletion.Decision{Count: count}},
				{"DP-8: Cascading, without replicas", labelled("Cascading"), nil, deletion.Decision{Count: count}},
				{"DP-8: Cascading, below 0", labelled("Cascading"), new(int32(-1)), deletion.Decision{Count: count}},
				{"DP-E4: lower case", labelled("always"), new(int32(3)), deletion.Decision{}},
				{"DP-1: another value", labelled("true"), new(int32(3)), deletion.Decision{}},
				{"DP-1: an empty value", labelled(""), new(int32(3)), deletion.Decision{}},
				{"DP-4, DP-E6: Always, being deleted", deleting, new(int32(3)), deletion.Decision{}},
				{"DP-4: Cascading, being deleted", deletingCascading, new(int32(3)), deletion.Decision{}},
			} {
				if diff := cmp.Diff(test.want, deletion.Decide(kind, test.object, test.replicas)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.name, diff)
				}
			}
		})
	}
}

// DP-14: Services and Ingresses have no children.
func TestEndpoints(t *testing.T) {
	going := labelled("Always")
	going.DeletionTimestamp = &metav1.Time{}
	for _, kind := range []schema.GroupKind{{Kind: "Service"}, {Group: "networking.k8s.io", Kind: "Ingress"}} {
		for _, test := range []struct {
			name   string
			object *metav1.ObjectMeta
			want   deletion.Decision
		}{
			{"no label", &metav1.ObjectMeta{}, deletion.Decision{}},
			{"Always", labelled("Always"), deletion.Decision{Reason: always}},
			{"Cascading", labelled("Cascading"), deletion.Decision{}},
			{"lower case", labelled("always"), deletion.Decision{}},
			{"Always, being deleted", going, deletion.Decision{}},
		} {
			if diff := cmp.Diff(test.want, deletion.Decide(kind, test.object, nil)); diff != "" {
				t.Errorf("DP-14: %v: %s (-want +got):\n%s", kind, test.name, diff)
			}
		}
	}
	if got := deletion.Decide(schema.GroupKind{Group: "extensions", Kind: "Ingress"}, labelled("Always"), nil); got != (deletion.Decision{}) {
		t.Errorf("DP-1: of another group: %+v", got)
	}
}

// DP-1: other kinds are not protected, those of the same name in other groups neither.
func TestDecideOtherKinds(t *testing.T) {
	for _, kind := range []schema.GroupKind{{Group: "apps", Kind: "DaemonSet"}, {Kind: "Pod"}, {Group: "shop.io", Kind: "StatefulSet"}, {Group: "apps", Kind: "CloneSet"}, {}} {
		if got := deletion.Decide(kind, labelled("Always"), new(int32(3))); got != (deletion.Decision{}) {
			t.Errorf("%v: %+v", kind, got)
		}
	}
}

// DP-5: what is counted decides, and nothing else that is decided already.
func TestCounted(t *testing.T) {
	for _, test := range []struct {
		name     string
		decision deletion.Decision
		n        int
		want     string
	}{
		{"pods", deletion.Decision{Count: deletion.ActivePods}, 2, forbidden + "Cascading and active pods 2>0"},
		{"no pods", deletion.Decision{Count: deletion.ActivePods}, 0, ""},
		{"objects", deletion.Decision{Count: deletion.ActiveObjects}, 1, forbidden + "Cascading and active CRs 1>0"},
		{"no objects", deletion.Decision{Count: deletion.ActiveObjects}, 0, ""},
		{"refused already", deletion.Decision{Reason: "because"}, 0, "because"},
		{"allowed already", deletion.Decision{}, 3, ""},
	} {
		if got := test.decision.Counted(test.n); got != (deletion.Decision{Reason: test.want}) {
			t.Errorf("%s: %+v, want %q", test.name, got, test.want)
		}
	}
}
