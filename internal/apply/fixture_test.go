// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	fakefixture "github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1beta1"
)

const setPath = "/apis/apps.kruise.io/v1beta1/namespaces/shop/statefulsets"

// fixture is a reconcile of the StatefulSet web on an API server in memory.
type fixture struct {
	*fakecluster.Server
	*Sync
	t      *testing.T
	user   kubernetes.Interface // the client of another user
	set    *v1beta1.StatefulSet
	events fakefixture.Recorder
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{t: t, Server: fakecluster.New(nil, fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"))}
	s.user = s.client("user")
	s.set = &v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	s.set.Status.CurrentRevision, s.set.Status.Replicas = "web-1", 3
	s.must(s.user.CoreV1().RESTClient().Post().AbsPath(setPath).Body(s.set).Do(t.Context()).Into(s.set))
	s.must(s.user.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath(setPath + "/web/status").
		Body([]byte(`{"status":{"currentRevision":"web-1","replicas":3}}`)).Do(t.Context()).Into(s.set))
	client := s.client("controller")
	writer := NewWriter(client)
	writer.Workloads, writer.Recorder = "statefulsets", &s.events
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

func (s *fixture) client(user string) kubernetes.Interface {
	s.t.Helper()
	client, err := kubernetes.NewForConfig(s.Config(user))
	s.must(err)
	return client
}

func (s *fixture) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// pod is a pod that is not created yet.
func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
	}
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

// existing creates pods as another user.
func (s *fixture) existing(names ...string) (pods []*corev1.Pod) {
	s.t.Helper()
	for _, name := range names {
		created, err := s.user.CoreV1().Pods("shop").Create(s.t.Context(), pod(name), metav1.CreateOptions{})
		s.must(err)
		pods = append(pods, created)
	}
	return pods
}

// existingClaim creates a claim as another user.
func (s *fixture) existingClaim(name string, edit func(*corev1.PersistentVolumeClaim)) {
	s.t.Helper()
	c := claim(name)
	if edit != nil {
		edit(c)
	}
	_, err := s.user.CoreV1().PersistentVolumeClaims("shop").Create(s.t.Context(), c, metav1.CreateOptions{})
	s.must(err)
}

// history is a revision whose template runs an image.
func history(name, image string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}},
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
	s.t.Helper()
	created, err := s.user.AppsV1().ControllerRevisions("shop").Create(s.t.Context(), r, metav1.CreateOptions{})
	s.must(err)
	return created
}

func (s *fixture) removeRevision(name string) {
	s.t.Helper()
	s.must(s.user.AppsV1().ControllerRevisions("shop").Delete(s.t.Context(), name, metav1.DeleteOptions{}))
}

// remove removes a pod at once, as another user.
func (s *fixture) remove(name string) {
	s.t.Helper()
	now := int64(0)
	s.must(s.user.CoreV1().Pods("shop").Delete(s.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
}

// createPods creates pods with their claims.
func (s *fixture) createPods(creations ...rollout.PodCreation) error {
	return s.CreatePods(s.t.Context(), creations, (&Applier[struct{}]{Sync: s.Sync}).Create)
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
	s.must(s.Own.Settle(s.Key, func(resource podwright.Resource, name string) (string, bool, error) {
		lost = append(lost, string(resource)+" "+name)
		return "", false, nil
	}))
	slices.Sort(lost)
	return lost
}
