// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// world is a server with the clients of one user, and what was shown of its objects.
type world struct {
	*fakecluster.Server
	t      *testing.T
	clock  *clocktesting.FakePassiveClock
	kube   kubernetes.Interface
	reader kubernetes.Interface      // another user
	shown  map[string]map[string]any // by path
	images map[string]string         // what the kubelet makes of an image
	resize string
	watch  watch.Interface
	asked  []string // by admission
}

func newWorld(t *testing.T) *world {
	t.Helper()
	c := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))
	configMaps := fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }}
	deployments := fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} })
	deployments.Scale = &fakecluster.Scale{
		Replicas: []string{"spec", "replicas"}, StatusReplicas: []string{"status", "replicas"}, Selector: []string{"spec", "selector"},
	}
	resources := []fakecluster.Resource{configMaps, deployments}
	for _, r := range [][4]string{
		{"apps.kruise.io", "v1alpha1", "CloneSet", "clonesets"}, {"example.com", "v1", "Deployment", "deployments"},
		{"example.com", "v1beta1", "Toy", "toys"}, {"example.com", "v1", "Toy", "toys"}, {"example.com", "v2alpha1", "Toy", "toys"},
	} {
		resources = append(resources, fakecluster.CustomResource(schema.GroupVersionKind{Group: r[0], Version: r[1], Kind: r[2]}, r[3]))
	}
	w := &world{t: t, clock: c, Server: fakecluster.New(c, resources...), shown: map[string]map[string]any{}, images: map[string]string{}, watch: watch.NewFake()}
	w.kube, w.reader = must(kubernetes.NewForConfig(w.Config("test")))(t), must(kubernetes.NewForConfig(w.Config("reader")))(t)
	return w
}

var protobufs = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)

// must makes an error of a setup end the test.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// rootOf is where the paths of a resource begin.
func rootOf(resource string) string {
	switch resource {
	case "controllerrevisions", "deployments":
		return "/apis/apps/v1"
	case "clonesets":
		return "/apis/apps.kruise.io/v1alpha1"
	}
	return "/api/v1"
}

// The data of a revision stays as it was sent, byte for byte.
func TestRevisionBytes(t *testing.T) {
	data := `{"spec":{"a":"\u003c1\u003e","n":null,"x":1.5}}`
	r := must(newWorld(t).kube.AppsV1().ControllerRevisions("shop").Create(t.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "r"}, Data: runtime.RawExtension{Raw: []byte(data)}}, metav1.CreateOptions{}))(t)
	if got := string(r.Data.Raw); got != data {
		t.Errorf("data %s, want %s", got, data)
	}
}

// TestGuard finds a change of an object that is in a cache.
func TestGuard(t *testing.T) {
	var guard fakecluster.Guard
	cached := must(guard.Transform(nil)(&corev1.Pod{}))(t).(*corev1.Pod)
	if err := guard.Check(); err != nil {
		t.Error(err)
	}
	if cached.Name = "changed"; guard.Check() == nil {
		t.Error("a change in the cache is not found")
	}
}

// TestAdmitAgain: a write that another one overtakes while it is decided about is asked about again.
func TestAdmitAgain(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	pods, calls := w.kube.CoreV1().Pods("shop"), 0
	label := func(name string) (*corev1.Pod, error) {
		return pods.Patch(ctx, "web", types.MergePatchType, []byte(`{"metadata":{"labels":{"`+name+`":"1"}}}`), metav1.PatchOptions{})
	}
	must(pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}))(t)
	w.AdmitBy(func(_ context.Context, _ fakecluster.Request, _, after *unstructured.Unstructured) (_ *unstructured.Unstructured, err error) {
		if after.GetLabels()["mine"] == "" {
			return after, nil
		}
		if calls++; calls == 1 {
			_, err = label("other")
		}
		return after, err
	})
	pod, err := label("mine")
	if err != nil || pod.Labels["other"] != "1" || pod.Labels["mine"] != "1" || calls != 2 {
		t.Errorf("error %v, labels %v, asked %d times", err, pod.Labels, calls)
	}
}
