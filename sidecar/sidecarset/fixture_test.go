// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var (
	setResource = fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"), Name: "sidecarsets", ClusterScoped: true, Status: true, Generation: true}
	// namespaces are served beside.
	namespaceResource = fakecluster.Resource{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: "namespaces", ClusterScoped: true,
		Type: func() any { return &corev1.Namespace{} }}
)

// newSet is a SidecarSet that injects the container log into pods with the label app of
// its name; the lines are YAML.
func newSet(t testing.TB, name string, lines ...string) *v1alpha1.SidecarSet {
	t.Helper()
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *patches.Object[v1alpha1.SidecarSetSpec](t, strings.Join(lines, "\n"))}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	if set.Spec.Containers == nil {
		set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:1"}}}
	}
	if err := Default(set); err != nil {
		t.Fatal(err)
	}
	return set
}

// connect returns a client of the sidecar kinds.
func connect(c *fixture.Cluster, user string) client.Interface {
	c.T.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

// createNamespaces creates namespaces, whose label name is their name.
func createNamespaces(c *fixture.Cluster, names ...string) {
	c.T.Helper()
	for _, name := range names {
		_, err := c.Kube.CoreV1().Namespaces().Create(c.T.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}, metav1.CreateOptions{})
		c.Must(err)
	}
}

// injectedPod is a pod with the label app, and with what a SidecarSet injects.
func injectedPod(t testing.TB, set *v1alpha1.SidecarSet, namespace, name string, features injection.Features) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": set.Name}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	result, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: time.Now(), Features: features,
		Namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"name": namespace}}}})
	if err != nil {
		t.Fatal(err)
	}
	return result.Pod
}

// options are those of a controller that shares informers; share may return nil.
func options(c *fixture.Cluster, share func(cache.SharedIndexInformer) cache.SharedIndexInformer) Options {
	c.T.Helper()
	kube, sidecars := c.Client(fixture.ControllerUser), connect(c, fixture.ControllerUser)
	core := caches.NewInformers(kube, "")
	return Options{Kubernetes: kube, Sidecar: sidecars, ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		SidecarSets: share(client.NewSidecarSetInformer(sidecars, 0, cache.Indexers{})),
		Pods:        share(core.Pods()), Namespaces: share(core.Namespaces()),
		Revisions: share(core.Revisions())}
}

// outcome shows the pods of a SidecarSet, its revisions and its status.
func outcome(c *fixture.Cluster, name string) string {
	c.T.Helper()
	var out []string
	for _, pod := range c.Pods() {
		if pod.Labels["app"] == name {
			line := fmt.Sprint(pod.Name, " ", imagesOf(&pod), " ready ", readiness.Ready(&pod))
			if c := readiness.Condition(&pod, v1alpha1.SidecarSetUpgradable); c != nil {
				line += fmt.Sprint(", upgradable ", c.Status, " ", c.Reason, " ", c.Message, " since ", c.LastTransitionTime.UTC().Format(time.TimeOnly))
			}
			out = append(out, line)
		}
	}
	slices.Sort(out)
	revisions, err := c.Kube.AppsV1().ControllerRevisions(DefaultRevisionNamespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, r := range revisions.Items {
		if r.Labels[v1alpha1.SidecarSetNameLabel] == name {
			out = append(out, fmt.Sprint("revision ", r.Name)) // its number depends on how many there were
		}
	}
	set, err := connect(c, fixture.TestUser).SidecarSets().Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	s := &set.Status
	return strings.Join(append(out, fmt.Sprintf("%d matched, %d updated, %d ready, %d both, at %s, generation %d, %v",
		s.MatchedPods, s.UpdatedPods, s.ReadyPods, s.UpdatedReadyPods, s.LatestRevision, s.ObservedGeneration, s.Conditions)), "\n")
}

func imagesOf(pod *corev1.Pod) (images []string) {
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		images = append(images, container.Name+"="+container.Image)
	}
	return images
}

// acts tells whether a plan does anything at all.
func acts(plan *Plan) bool {
	return plan.Revisions.Any() || plan.CustomVersion != "" || !plan.Stage.Empty() || plan.Status != nil
}
