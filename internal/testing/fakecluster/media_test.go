// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// protobuf is a client that speaks protobuf alone.
func (f *fixture) protobuf() kubernetes.Interface {
	f.t.Helper()
	config := f.Config("test")
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	return kubernetes.NewForConfigOrDie(config)
}

// TestProtobuf wants the same of a client of protobuf as of one of JSON: reads, lists, watches, writes, errors.
func TestProtobuf(t *testing.T) {
	f, ctx := newFixture(t), t.Context()
	pods := f.protobuf().CoreV1().Pods("shop")
	created, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, pod *corev1.Pod, err error) {
		t.Helper()
		want, wantErr := f.kube.CoreV1().Pods("shop").Get(ctx, "web", metav1.GetOptions{})
		if diff := cmp.Diff(want, pod); err != nil || wantErr != nil || diff != "" {
			t.Errorf("%s: error %v and %v, pod (-JSON +protobuf):\n%s", what, err, wantErr, diff)
		}
	}
	same("creation", created, nil)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.ResourceVersion == "" {
		t.Fatalf("error %v, list %v", err, list)
	}
	same("list", &list.Items[0], nil)
	w, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	patched, err := pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	same("patch", patched, err)
	event := <-w.ResultChan()
	if seen, ok := event.Object.(*corev1.Pod); ok {
		same("event", seen, nil)
	} else {
		t.Errorf("event %+v", event)
	}
	if _, err := pods.Get(ctx, "other", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v of a pod that does not exist", err)
	}
	other := types.UID("other")
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}
	if err := pods.Delete(ctx, "web", options); !apierrors.IsConflict(err) {
		t.Errorf("error %v of a deletion by another UID", err)
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}, DeleteOptions: &options}
	if err := pods.EvictV1(ctx, eviction); !apierrors.IsConflict(err) {
		t.Errorf("error %v of an eviction by another UID", err)
	}
	if err := pods.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if event := <-w.ResultChan(); event.Type != watch.Deleted {
		t.Errorf("event %+v", event)
	}
}

// TestProtobufOfCustomResources: they have no such form, so a client that takes nothing else is told so at once.
func TestProtobufOfCustomResources(t *testing.T) {
	f, ctx := newFixture(t), t.Context()
	config := f.Config("test")
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	config.NegotiatedSerializer = nil
	workloads, err := client.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	sets := workloads.CloneSets("shop")
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := sets.Create(ctx, set, metav1.CreateOptions{}); err != nil {
		t.Errorf("the client of this library speaks JSON of its kinds, whatever its configuration says: %v", err)
	}
	answer := f.protobuf().CoreV1().RESTClient().Get().AbsPath("/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets/web").Do(ctx)
	if err := answer.Error(); !apierrors.IsNotAcceptable(err) {
		t.Errorf("error %v", err)
	}
}

// TestMetadataInformer: a client of metadata lists and watches any kind, in either form.
func TestMetadataInformer(t *testing.T) {
	f, ctx := newFixture(t), t.Context()
	f.pod()
	if _, err := f.sets.Create(ctx, &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	all := metadata.NewForConfigOrDie(metadata.ConfigFor(f.Config("test")))
	for _, resource := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "pods"}, {Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"},
	} {
		objects := all.Resource(resource).Namespace("shop")
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 || list.Items[0].Name != "web" || list.ResourceVersion == "" {
			t.Fatalf("%s: error %v, list %+v", resource.Resource, err, list)
		}
		w, err := objects.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := objects.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		event := <-w.ResultChan()
		seen, ok := event.Object.(*metav1.PartialObjectMetadata)
		if !ok || seen.Labels["a"] != "b" {
			t.Errorf("%s: event %+v", resource.Resource, event)
		}
		w.Stop()
	}
}
