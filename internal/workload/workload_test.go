// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"

	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

func ownedBy(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: new(true)}
}

// TestOf shows in testdata/workloads.txt what is read of manifests.
func TestOf(t *testing.T) {
	kinds := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, workloadsv1alpha1.AddToScheme, workloadsv1beta1.AddToScheme} {
		if err := add(kinds); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDeserializer()
	datadriven.RunTest(t, "testdata/workloads.txt", func(t *testing.T, d *datadriven.TestData) string {
		object, _, err := decoder.Decode([]byte(d.Input), nil, nil)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		w := Of(object)
		if w == nil {
			return "none\n"
		}
		var out strings.Builder
		for i, fields := 0, reflect.ValueOf(*w); i < fields.NumField(); i++ {
			if field := fields.Field(i); !field.IsZero() {
				text, err := json.Marshal(field.Interface())
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s: %s\n", fields.Type().Field(i).Name, text)
			}
		}
		return out.String()
	})
	if w := Of(nil); w != nil {
		t.Errorf("nothing is the workload %v", w)
	}
}

// A kind has one entry, whose caches no other has.
func TestKinds(t *testing.T) {
	resources := map[string]bool{}
	for _, k := range Kinds() {
		if found := KindOf(k.GroupKind()); found == nil || found.GroupVersionKind != k.GroupVersionKind || resources[k.resource] || k.resource == "" || Resource(k.GroupKind()) != k.resource {
			t.Errorf("%s: found %v, resource %q", k, found, k.resource)
		}
		resources[k.resource] = true
	}
	if none := (schema.GroupKind{Group: "example.com", Kind: "CloneSet"}); KindOf(none) != nil || Resource(none) != "" || len(resources) != 7 {
		t.Errorf("%d kinds, and %v of a kind that is none", len(resources), KindOf(none))
	}
}

func TestAbove(t *testing.T) {
	pod := func(ref ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: ref}}
	}
	rs, deployment := ownedBy("apps/v1", "ReplicaSet", "web-1"), ownedBy("apps/v1", "Deployment", "web")
	known := map[Named]*metav1.OwnerReference{{ReplicaSets, "web-1"}: &deployment, {Deployments, "web"}: nil, {Jobs, "round"}: new(ownedBy("batch/v1", "Job", "round"))}
	find := func(kind schema.GroupKind, name string) (types.UID, *metav1.OwnerReference, bool) {
		controller, found := known[Named{kind, name}]
		return types.UID("uid-" + name), controller, found
	}
	other := rs
	other.UID = "another"
	plain := rs
	plain.Controller = nil
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want []Named
	}{
		"nothing":                     {pod(), nil},
		"an owner that controls none": {pod(plain), nil},
		"a ReplicaSet and more":       {pod(plain, rs), []Named{{ReplicaSets, "web-1"}, {Deployments, "web"}}},
		"another one of the name":     {pod(other), []Named{{ReplicaSets, "web-1"}}},
		"one that is not known":       {pod(ownedBy("example.com/v1", "Game", "g")), []Named{{schema.GroupKind{Group: "example.com", Kind: "Game"}, "g"}}},
		"no version":                  {pod(ownedBy("a/b/c", "Game", "g")), nil},
	} {
		if diff := cmp.Diff(test.want, Above(test.pod, find)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if n := len(Above(pod(ownedBy("batch/v1", "Job", "round")), find)); n != MostOwners {
		t.Errorf("of owners in a circle there are %d", n)
	}
	if kind := ControllerKind(pod(plain, deployment)); kind != Deployments || ControllerKind(pod(plain)) != (schema.GroupKind{}) {
		t.Errorf("a %s controls the pod", kind)
	}
}
