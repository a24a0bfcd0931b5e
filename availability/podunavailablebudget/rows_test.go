// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	metadatafake "k8s.io/client-go/metadata/fake"
	scalefake "k8s.io/client-go/scale/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/lifecycle"
)

// row is a line of testdata/rows.
type row struct {
	// Pod is one that serves, with changes.
	Pod *corev1.Pod
	// Kind is that of a workload, as Rollout.v1alpha1.argoproj.io, and Only the resource that Scales read, if they read no others.
	Kind, Name, Only string
	// Unseen says that a workload of two pods was not there when it was looked at, and Unread that it could not be. It had so many pods then.
	Unseen, Unread bool
	Had            int
	// UID is that of the workload that has so many pods now.
	UID  types.UID
	Pods int
	// Known are what the pod comes from: its ReplicaSet, and the Deployment other that this is of. The pod is so old, and Beside says that another
	// budget selects it.
	Known  []string
	Age    string
	Beside bool
}

// TestRows plays the tables in testdata/rows: see patches.PlayRows.
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/rows", func() row { return row{Pod: webPod()} }, func(t *testing.T, command string, r *row) string {
		switch command {
		case "trimmed":
			return trimmed(t, r.Pod)
		case "scale":
			return r.scale(t)
		case "untold":
			return r.untold(t)
		case "enough":
			seen := look{pods: r.Had}
			if r.Unread {
				seen.notRead = ErrNotRead
			} else if !r.Unseen {
				seen.workload = &budget.Workload{Name: "web", UID: "first", Replicas: new(int32(2))}
			}
			return fmt.Sprint(seen.enough(r.UID, r.Pods))
		}
		t.Fatalf("no table of %s", command)
		return ""
	})
}

// untold shows from how many pods the name of the budget of a Deployment goes, and when it is looked at again.
func (r *row) untold(t *testing.T) string {
	age, err := time.ParseDuration(r.Age)
	if err != nil {
		t.Fatal(err)
	}
	r.Pod.CreationTimestamp.Time = at.Add(-age)
	all := map[string]*budget.Workload{"other": {GroupKind: workload.Deployments, Name: "other", UID: "other"},
		"rs": {GroupKind: workload.ReplicaSets, Name: "web-1", UID: "rs", Controller: new(ownerOf("apps/v1", "Deployment", "other", "other"))}}
	s := snapshotOf(newBudget("web", "0", "of=Deployment:web"), r.Pod)
	for _, name := range r.Known {
		s.Workloads[types.UID(name)] = all[name]
	}
	if r.Beside {
		s.Others = append(s.Others, newBudget("z", "1", "app=web"))
	}
	p := NewPlan(s)
	return fmt.Sprintf("from %d, again after %s", len(p.Untell), p.RequeueAfter)
}

// trimmed shows what is said of a pod in a cache of a webhook, which is the same as without the transform of the cache.
func trimmed(t *testing.T, pod *corev1.Pod) (shown string) {
	t.Helper()
	object, err := TrimPod(pod.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	got := object.(*corev1.Pod)
	kept := cached(t, pod.DeepCopy())
	if listed, err := kept.List(labels.Everything()); err != nil || !cmp.Equal(listed, []*corev1.Pod{got}) {
		t.Errorf("listed %v, %v", listed, err)
	}
	if found, err := kept.Get(pod.Name); err != nil || !cmp.Equal(found, got) {
		t.Errorf("the cache of a CachedWebhook has another pod (-want +got):\n%s %v", cmp.Diff(got, found), err)
	}
	b := newBudget("web", "1")
	b.Status = v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, DesiredAvailable: 1, CurrentAvailable: 2, UnavailableAllowed: 1}
	full := b.DeepCopy()
	full.Status.CurrentAvailable, full.Status.UnavailableAllowed = 1, 0
	booked := full.DeepCopy()
	booked.Status.DisruptedPods, booked.Status.PodUIDs = map[string]metav1.Time{"web-1-a": metav1.NewTime(at)}, map[string]types.UID{"web-1-a": "pod"}
	for i, b := range []*v1alpha1.PodUnavailableBudget{nil, b, full, booked} {
		for _, operation := range []v1alpha1.PubOperation{v1alpha1.PubEvictOperation, v1alpha1.PubDeleteOperation} {
			request := budget.Request{Operation: operation, Now: at}
			whole, decision := budget.Decide(b, pod, request), budget.Decide(b, got, request)
			if diff := cmp.Diff(whole, decision); diff != "" {
				t.Errorf("%s (-want +got):\n%s", operation, diff)
			}
			shown += fmt.Sprintf("%s %s: %t, %s\n", []string{"no budget", "room", "full", "booked"}[i], operation, decision.Allowed, decision.Reason)
		}
	}
	is := func(pod *corev1.Pod) string {
		return fmt.Sprintf("makes room %t, awaits its eviction for %s, ready %t\n", makesRoom(pod), lifecycle.AwaitsEviction(pod, at), budget.Ready(pod))
	}
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}}
	if is(pod) != is(got) || meets(got, options) != nil || got.Namespace != pod.Namespace || got.Name != pod.Name || len(got.Spec.Containers) > 0 {
		t.Errorf("another pod than %+v: %+v", pod, got)
	}
	return shown + is(got)
}

// cached is a cache of a CachedWebhook that has a pod, and one of the same name elsewhere.
func cached(t *testing.T, pod *corev1.Pod) corev1listers.PodNamespaceLister {
	t.Helper()
	elsewhere := pod.DeepCopy()
	elsewhere.Namespace = "elsewhere"
	kept := keptPods{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	for _, pod := range []*corev1.Pod{pod, elsewhere} {
		object, err := keepPod(pod)
		if err == nil {
			err = kept.Add(object)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kept.Pods("nowhere").Get(pod.Name); !apierrors.IsNotFound(err) {
		t.Errorf("a pod that is not there: %v", err)
	}
	return kept.Pods(pod.Namespace)
}

// What is no pod is not trimmed.
func TestTrimOther(t *testing.T) {
	other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if got, err := TrimPod(other); got != any(other) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// scale shows a workload as its scale has it, and how many requests that took. The API server has a Rollout and a Memcached web, and a Cart web
// without a scale.
func (r *row) scale(t *testing.T) string {
	t.Helper()
	mapper, scheme := meta.NewDefaultRESTMapper(nil), metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var objects []runtime.Object
	for _, name := range []string{"Rollout.v1alpha1.argoproj.io", "Memcached.v1.shop.io", "Cart.v1.shop.io"} {
		kind, _ := schema.ParseKindArg(name)
		mapper.Add(*kind, meta.RESTScopeNamespace)
		objects = append(objects, &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", OwnerReferences: []metav1.OwnerReference{ownerOf("shop.io/v1", "Shop", "all", "all")}},
		})
	}
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
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
	var only []schema.GroupResource
	if r.Only != "" {
		only = append(only, schema.ParseGroupResource(r.Only))
	}
	kind, group := schema.ParseKindArg(r.Kind)
	if kind == nil {
		kind = &schema.GroupVersionKind{Version: "v1", Kind: group.Kind}
	}
	w, err := NewScales(mapper, scale, metadata, only...).Workload(t.Context(), "default", *kind, r.Name)
	requests := fmt.Sprintf("%d requests: ", len(metadata.Actions())+len(scale.Actions()))
	switch {
	case err != nil && !errors.Is(err, ErrNotRead):
		t.Errorf("error %v", err)
	case err != nil:
		return requests + err.Error()
	case w == nil:
		return requests + "none"
	}
	return fmt.Sprintf("%s%s %s wants %d of %s, %s %s controls it", requests, w.GroupKind, w.Name, w.Wants(),
		metav1.FormatLabelSelector(w.Selector), w.Controller.Kind, w.Controller.Name)
}

// What reads scales needs these rights. (PUB-23)
func TestScaleRules(t *testing.T) {
	want := []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"shop.io"}, Resources: []string{"memcacheds"}},
		{Verbs: []string{"get"}, APIGroups: []string{"shop.io"}, Resources: []string{"memcacheds/scale"}}}
	if diff := cmp.Diff(want, ScaleRules(schema.GroupResource{Group: "shop.io", Resource: "memcacheds"})); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}
