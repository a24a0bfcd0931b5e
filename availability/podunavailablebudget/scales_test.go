// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	metadatafake "k8s.io/client-go/metadata/fake"
	scalefake "k8s.io/client-go/scale/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/availability/budget"
)

var (
	rollouts   = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}
	memcacheds = schema.GroupVersionKind{Group: "shop.io", Version: "v1", Kind: "Memcached"}
	carts      = schema.GroupVersionKind{Group: "shop.io", Version: "v1", Kind: "Cart"}
	nodes      = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
)

// newScales returns Scales of an API server that has a Rollout and a Memcached web, and a Cart web without a scale. It also
// returns how to ask how many requests that server has got.
func newScales(t *testing.T, only ...schema.GroupResource) (scales Scales, requests func() int) {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	for _, kind := range []schema.GroupVersionKind{rollouts, memcacheds, carts} {
		mapper.Add(kind, meta.RESTScopeNamespace)
		objects = append(objects, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", OwnerReferences: []metav1.OwnerReference{ownerOf("shop.io/v1", "Shop", "all", "all")}},
		})
	}
	mapper.Add(nodes, meta.RESTScopeRoot)
	metadata, scale := metadatafake.NewSimpleMetadataClient(scheme, objects...), &scalefake.FakeScaleClient{}
	scale.AddReactor("get", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action.GetResource().Resource {
		case "rollouts":
			return true, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 4}, Status: autoscalingv1.ScaleStatus{Selector: "app=web,track notin (canary)"}}, nil
		case "memcacheds":
			return true, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 2}, Status: autoscalingv1.ScaleStatus{Selector: "app="}}, nil
		}
		return true, nil, apierrors.NewNotFound(schema.GroupResource{}, "web")
	})
	return NewScales(mapper, scale, metadata, only...), func() int { return len(metadata.Actions()) + len(scale.Actions()) }
}

// Workloads of kinds that have no informer, as their scale has it. (PUB-23)
func TestScales(t *testing.T) {
	const unread = "no controller reads workloads of this kind, or it has no scale subresource"
	some := []schema.GroupResource{{Group: "shop.io", Resource: "memcacheds"}}
	for _, tt := range []struct {
		what     string
		kind     schema.GroupVersionKind
		name     string
		only     []schema.GroupResource
		want     string
		requests int
	}{
		{"one with a scale", rollouts, "web", nil, "Rollout.argoproj.io web wants 4 of app=web,track notin (canary), Shop all controls it", 2},
		{"one that is not there", rollouts, "other", nil, "none", 1},
		{"one without a scale", carts, "web", nil, unread, 2},
		{"of no known kind", schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Cart"}, "web", nil, unread, 0},
		{"of a kind that has no namespace", nodes, "web", nil, unread, 0},
		{"of a resource that is named", memcacheds, "web", some, "Memcached.shop.io web wants 2 of app=, Shop all controls it", 2},
		{"of another one", carts, "web", some, unread, 0},
		{"of another group", rollouts, "web", some, unread, 0},
		{"of another group that is not served", schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Cart"}, "web", some, unread, 0},
	} {
		scales, requests := newScales(t, tt.only...)
		w, err := scales.Workload(t.Context(), "default", tt.kind, tt.name)
		got := "none"
		switch {
		case err != nil:
			got = err.Error()
		case w != nil:
			got = fmt.Sprintf("%s %s wants %d of %s, %s %s controls it", w.GroupKind, w.Name, w.Wants(), metav1.FormatLabelSelector(w.Selector), w.Controller.Kind, w.Controller.Name)
		}
		if got != tt.want || requests() != tt.requests || errors.Is(err, ErrNotRead) != (err != nil) {
			t.Errorf("PUB-23: %s: got %q and %d requests, want %q and %d", tt.what, got, requests(), tt.want, tt.requests)
		}
	}
	want := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"shop.io"}, Resources: []string{"memcacheds"}}, {Verbs: []string{"get"}, APIGroups: []string{"shop.io"}, Resources: []string{"memcacheds/scale"}}}
	if diff := cmp.Diff(want, ScaleRules(some...)); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// What was seen of a workload says nothing of another one that has its name now, nor of more pods than it wanted and had. (PUB-23)
func TestLooks(t *testing.T) {
	two := int32(2)
	seen := &budget.Workload{Name: "web", UID: "first", Replicas: &two}
	for _, tt := range []struct {
		name string
		look look
		uid  types.UID
		pods int
		want bool
	}{
		{"as many as it wants", look{workload: seen}, "first", 2, true},
		{"more", look{workload: seen}, "first", 3, false},
		{"more, and it had them then", look{workload: seen, pods: 3}, "first", 3, true},
		{"of another one", look{workload: seen}, "second", 1, false},
		{"of another one, which had them then", look{workload: seen, pods: 1}, "second", 1, true},
		{"whichever it is", look{workload: seen}, "", 2, true},
		{"it was not there", look{}, "first", 1, false},
		{"it was not there, and had no pods", look{}, "first", 0, true},
		{"nobody reads it", look{notRead: ErrNotRead}, "first", 9, true},
	} {
		if got := tt.look.enough(tt.uid, tt.pods); got != tt.want {
			t.Errorf("PUB-23: %s: got %t", tt.name, got)
		}
	}
}
