// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// fixture is a server with the clients of one user.
type fixture struct {
	*fakecluster.Server
	t     *testing.T
	clock *clocktesting.FakePassiveClock
	kube  kubernetes.Interface
	sets  client.CloneSetInterface
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := clocktesting.NewFakePassiveClock(noon)
	configMaps := fakecluster.Resource{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }}
	deployments := fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("Deployment"), "deployments", func() any { return &appsv1.Deployment{} })
	deployments.Scale = &fakecluster.Scale{
		Replicas: []string{"spec", "replicas"}, StatusReplicas: []string{"status", "replicas"}, Selector: []string{"spec", "selector"},
	}
	resources := []fakecluster.Resource{configMaps, deployments, fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets")}
	for _, version := range []string{"v1beta1", "v1", "v2alpha1"} {
		resources = append(resources, fakecluster.CustomResource(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Toy"}, "toys"))
	}
	f := &fixture{t: t, clock: c, Server: fakecluster.New(c, resources...)}
	f.kube, f.sets = must(kubernetes.NewForConfig(f.Config("test")))(t), must(client.NewForConfig(f.Config("test")))(t).CloneSets("shop")
	return f
}

func (f *fixture) pod(edit ...func(*corev1.Pod)) *corev1.Pod {
	f.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
	}
	for _, e := range edit {
		e(pod)
	}
	return must(f.kube.CoreV1().Pods("shop").Create(f.t.Context(), pod, metav1.CreateOptions{}))(f.t)
}

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

// remove deletes the pod web.
func (f *fixture) remove() {
	f.t.Helper()
	if err := f.kube.CoreV1().Pods("shop").Delete(f.t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

// The data of a revision stays as it was sent, byte for byte.
func TestRevisionBytes(t *testing.T) {
	data := `{"spec":{"a":"\u003c1\u003e","n":null,"x":1.5}}`
	r := must(newFixture(t).kube.AppsV1().ControllerRevisions("shop").Create(t.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "r"}, Data: runtime.RawExtension{Raw: []byte(data)}}, metav1.CreateOptions{}))(t)
	if got := string(r.Data.Raw); got != data {
		t.Errorf("data %s, want %s", got, data)
	}
}

// discover shows what a client finds out about what is served.
func (w *world) discover(version string, out *strings.Builder) {
	if version != "" {
		_, err := w.kube.Discovery().ServerResourcesForGroupVersion(version)
		fmt.Fprintln(out, apierrors.ReasonForError(err), err)
		return
	}
	groups, lists, err := w.kube.Discovery().ServerGroupsAndResources()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, group := range groups {
		fmt.Fprintf(out, "group %s: %d versions, preferred is %s\n", group.Name, len(group.Versions), group.PreferredVersion.Version)
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			fmt.Fprintf(out, "%s %s: %s, namespaced: %t\n", list.GroupVersion, r.Name, r.Kind, r.Namespaced)
		}
	}
}
