// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	fakefixture "github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const setPath = "/apis/apps.kruise.io/v1beta1/namespaces/default/statefulsets"

var setResource = fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets")

// fixture is a reconcile of the StatefulSet web on an API server in memory.
type fixture struct {
	*fakecluster.Server
	*Sync
	c   *fakefixture.Cluster // what others do
	set *v1beta1.StatefulSet
}

func newFixture(c *fakefixture.Cluster) *fixture {
	s := &fixture{Server: c.Server, c: c, set: newSet()}
	c.Create(s.set, "")
	c.Edit(`{"status":{"currentRevision":"web-1","replicas":3}}`, "status")
	c.Must(s.read(s.set))
	client := c.Client(fakefixture.ControllerUser)
	writer := NewWriter(client)
	writer.Workloads, writer.Recorder = "statefulsets", &c.Events
	writer.Merge = func(ctx context.Context, key types.NamespacedName, data []byte, subresources ...string) (string, error) {
		var set v1beta1.StatefulSet
		path := setPath + "/" + key.Name + "/" + strings.Join(subresources, "/")
		err := client.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(path).Body(data).Do(ctx).Into(&set)
		return set.ResourceVersion, err
	}
	s.Sync = writer.Begin(s.set)
	s.ForgetRequests()
	return s
}

func newSet() *v1beta1.StatefulSet {
	return &v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
}

// read reads the stored set.
func (s *fixture) read(set *v1beta1.StatefulSet) error {
	return s.c.Kube.CoreV1().RESTClient().Get().AbsPath(setPath + "/web").Do(s.c.T.Context()).Into(set)
}

// pod is a pod that is not created yet.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// existing creates pods as another user.
func (s *fixture) existing(names ...string) (pods []*corev1.Pod) {
	for _, name := range names {
		created, err := s.c.Kube.CoreV1().Pods("default").Create(s.c.T.Context(), pod(name), metav1.CreateOptions{})
		s.c.Must(err)
		pods = append(pods, created)
	}
	return pods
}

// existingClaim creates a claim as another user.
func (s *fixture) existingClaim(name string, edit func(*corev1.PersistentVolumeClaim)) {
	c := claim(name)
	if edit != nil {
		edit(c)
	}
	_, err := s.c.Kube.CoreV1().PersistentVolumeClaims("default").Create(s.c.T.Context(), c, metav1.CreateOptions{})
	s.c.Must(err)
}

// history is a revision whose template runs an image.
func history(name, image string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}},
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},` +
			`"spec":{"containers":[{"image":"` + image + `","name":"main","resources":{}}]}}}}`)},
		Revision: 1,
	}
}

func owner(uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: uid}
}

// stored creates a revision as another user.
func (s *fixture) stored(r *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	created, err := s.c.Kube.AppsV1().ControllerRevisions("default").Create(s.c.T.Context(), r, metav1.CreateOptions{})
	s.c.Must(err)
	return created
}

func (s *fixture) removeRevision(name string) {
	s.c.Must(s.c.Kube.AppsV1().ControllerRevisions("default").Delete(s.c.T.Context(), name, metav1.DeleteOptions{}))
}

// createPods creates pods with their claims.
func (s *fixture) createPods(creations ...rollout.PodCreation) error {
	return s.CreatePods(s.c.T.Context(), creations, (&Applier[struct{}]{Sync: s.Sync}).Create)
}

// live reads what the fixture writes.
func (s *fixture) live() apiwriter.Registry {
	return apiwriter.Registry{caches.Pods: apiwriter.Pods(s.Kubernetes), caches.Claims: apiwriter.Claims(s.Kubernetes)}
}

// requests lists what the controller sent, sorted.
func (s *fixture) requests() (requests []string) {
	for _, r := range s.Requests("controller") {
		requests = append(requests, strings.TrimSpace(r.String()+" "+r.Name))
	}
	slices.Sort(requests)
	return requests
}

// lost lists the writes that are looked for before the next reconcile.
func (s *fixture) lost() (lost []string) {
	s.c.Must(s.Own.Settle(s.Key, func(resource podwright.Resource, name string) (string, bool, error) {
		lost = append(lost, string(resource)+" "+name)
		return "", false, nil
	}))
	slices.Sort(lost)
	return lost
}
