// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
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
	f := &fixture{t: t, clock: c, Server: fakecluster.New(c,
		fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"))}
	kube, err := kubernetes.NewForConfig(f.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	workloads, err := client.NewForConfig(f.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	f.kube, f.sets = kube, workloads.CloneSets("shop")
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

func (f *fixture) get(name string) (*corev1.Pod, error) {
	return f.kube.CoreV1().Pods("shop").Get(f.t.Context(), name, metav1.GetOptions{})
}

func (f *fixture) patch(kind types.PatchType, data string, sub ...string) (*corev1.Pod, error) {
	return f.kube.CoreV1().Pods("shop").Patch(f.t.Context(), "web", kind, []byte(data), metav1.PatchOptions{}, sub...)
}

func (f *fixture) bind(name string) {
	f.t.Helper()
	if err := f.kube.CoreV1().Pods("shop").Bind(f.t.Context(), &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Target: corev1.ObjectReference{Kind: "Node", Name: "n1"},
	}, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
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

// wantError fails the test unless the error is of the kind that is tells.
func wantError(t *testing.T, err error, is func(error) bool) {
	t.Helper()
	if !is(err) {
		t.Errorf("error %v is not the one wanted", err)
	}
}

func cloneSet() *v1alpha1.CloneSet {
	return &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
}

func TestCreate(t *testing.T) {
	t.Run("the server sets metadata and takes no status", func(t *testing.T) {
		f := newFixture(t)
		pod := f.pod(func(p *corev1.Pod) {
			p.UID, p.Generation, p.Status.PodIP = "mine", 7, "10.0.0.1"
			past := metav1.NewTime(noon.Add(-time.Hour))
			p.CreationTimestamp, p.DeletionTimestamp = past, &past
		})
		got := []any{pod.UID, pod.Generation, pod.ResourceVersion, pod.CreationTimestamp.UTC(), pod.DeletionTimestamp == nil, pod.Status.PodIP, pod.Status.Phase}
		want := []any{types.UID("00000000-0000-4000-8000-000000000001"), int64(1), "2", noon, true, "", corev1.PodPending}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pod (-want +got):\n%s", diff)
		}
	})
	t.Run("a name that exists", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		_, err := f.kube.CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
		wantError(t, err, apierrors.IsAlreadyExists)
	})
	t.Run("generateName gives different names", func(t *testing.T) {
		f := newFixture(t)
		generate := func(p *corev1.Pod) { p.Name, p.GenerateName = "", "web-" }
		a, b := f.pod(generate), f.pod(generate)
		if a.Name == b.Name || a.Name == "" {
			t.Errorf("names %q and %q", a.Name, b.Name)
		}
	})
	t.Run("bad labels are invalid", func(t *testing.T) {
		f := newFixture(t)
		_, err := f.kube.CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: "web", Labels: map[string]string{"a": "-"}}}, metav1.CreateOptions{})
		wantError(t, err, apierrors.IsInvalid)
	})
	t.Run("revisions count over all resources", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		set := must(f.sets.Create(t.Context(), cloneSet(), metav1.CreateOptions{}))(t)
		if set.ResourceVersion != "3" || set.Generation != 1 {
			t.Errorf("resourceVersion %s, generation %d", set.ResourceVersion, set.Generation)
		}
	})
}

func TestConcurrency(t *testing.T) {
	pods := func(f *fixture) interface {
		Update(context.Context, *corev1.Pod, metav1.UpdateOptions) (*corev1.Pod, error)
	} {
		return f.kube.CoreV1().Pods("shop")
	}
	for _, test := range []struct {
		name string
		call func(*fixture, *corev1.Pod) error
		want func(error) bool
	}{
		{"PUT with an old resourceVersion conflicts", func(f *fixture, p *corev1.Pod) error {
			p.ResourceVersion = "1"
			_, err := pods(f).Update(f.t.Context(), p, metav1.UpdateOptions{})
			return err
		}, apierrors.IsConflict},
		{"PUT with another UID conflicts", func(f *fixture, p *corev1.Pod) error {
			p.UID = "other"
			_, err := pods(f).Update(f.t.Context(), p, metav1.UpdateOptions{})
			return err
		}, apierrors.IsConflict},
		{"PUT of a pod without resourceVersion overwrites", func(f *fixture, p *corev1.Pod) error {
			p.ResourceVersion = ""
			_, err := pods(f).Update(f.t.Context(), p, metav1.UpdateOptions{})
			return err
		}, func(err error) bool { return err == nil }},
		{"PATCH with an old resourceVersion conflicts", func(f *fixture, _ *corev1.Pod) error {
			_, err := f.patch(types.MergePatchType, `{"metadata":{"resourceVersion":"1"}}`)
			return err
		}, apierrors.IsConflict},
		{"PATCH with another UID is invalid, as on a real server", func(f *fixture, _ *corev1.Pod) error {
			_, err := f.patch(types.StrategicMergePatchType, `{"metadata":{"uid":"other","labels":{"a":"b"}}}`)
			return err
		}, apierrors.IsInvalid},
		{"PATCH of the status with another UID is invalid", func(f *fixture, _ *corev1.Pod) error {
			_, err := f.patch(types.StrategicMergePatchType, `{"metadata":{"uid":"other"},"status":{"reason":"x"}}`, "status")
			return err
		}, apierrors.IsInvalid},
		{"DELETE with another UID conflicts", func(f *fixture, _ *corev1.Pod) error {
			return f.kube.CoreV1().Pods("shop").Delete(f.t.Context(), "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")})
		}, apierrors.IsConflict},
		{"DELETE with an old resourceVersion conflicts", func(f *fixture, _ *corev1.Pod) error {
			return f.kube.CoreV1().Pods("shop").Delete(f.t.Context(), "web", *metav1.NewRVDeletionPrecondition("1"))
		}, apierrors.IsConflict},
		{"what does not exist is not found", func(f *fixture, _ *corev1.Pod) error {
			return f.kube.CoreV1().Pods("shop").Delete(f.t.Context(), "none", metav1.DeleteOptions{})
		}, apierrors.IsNotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.pod()
			now := must(f.patch(types.MergePatchType, `{"metadata":{"labels":{"a":"1"}}}`))(t)
			wantError(t, test.call(f, now.DeepCopy()), test.want)
		})
	}
}

func TestSubresources(t *testing.T) {
	t.Run("a write of a pod keeps its status and counts a generation when the spec changes", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		must(f.patch(types.StrategicMergePatchType, `{"status":{"reason":"here"}}`, "status"))(t)
		pod := must(f.patch(types.StrategicMergePatchType, `{"metadata":{"labels":{"b":"c"}},"spec":{"containers":[{"name":"main","image":"web:2"}]},"status":{"reason":"there"}}`))(t)
		got := []any{pod.Status.Reason, pod.Spec.Containers[0].Image, pod.Labels, pod.Generation}
		if diff := cmp.Diff([]any{"here", "web:2", map[string]string{"app": "web", "b": "c"}, int64(2)}, got); diff != "" {
			t.Errorf("pod (-want +got):\n%s", diff)
		}
	})
	t.Run("a write of a pod's status takes labels and annotations, and nothing else", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		pod := must(f.patch(types.StrategicMergePatchType, `{"metadata":{"labels":{"b":"c"},"annotations":{"d":"e"},"finalizers":["x.io/f"]},
			"spec":{"containers":[{"name":"main","image":"web:2"}]},"status":{"reason":"there"}}`, "status"))(t)
		got := []any{pod.Status.Reason, pod.Spec.Containers[0].Image, pod.Labels["b"], pod.Annotations["d"], len(pod.Finalizers), pod.Generation}
		if diff := cmp.Diff([]any{"there", "web:1", "c", "e", 0, int64(1)}, got); diff != "" {
			t.Errorf("pod (-want +got):\n%s", diff)
		}
	})
	t.Run("of a pod's spec only images change", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		_, err := f.patch(types.StrategicMergePatchType, `{"spec":{"hostNetwork":true}}`)
		wantError(t, err, apierrors.IsInvalid)
	})
	t.Run("the status of a custom resource", func(t *testing.T) {
		f := newFixture(t)
		must(f.sets.Create(t.Context(), cloneSet(), metav1.CreateOptions{}))(t)
		patch := []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":5},"status":{"replicas":3}}`)
		byStatus := must(f.sets.Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}, "status"))(t)
		got := []any{byStatus.Spec.Replicas == nil, byStatus.Status.Replicas, len(byStatus.Labels), byStatus.Generation}
		if diff := cmp.Diff([]any{true, int32(3), 0, int64(1)}, got); diff != "" {
			t.Errorf("by the status endpoint (-want +got):\n%s", diff)
		}
		patch = []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":5},"status":{"replicas":7}}`)
		whole := must(f.sets.Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}))(t)
		got = []any{*whole.Spec.Replicas, whole.Status.Replicas, len(whole.Labels), whole.Generation}
		if diff := cmp.Diff([]any{int32(5), int32(3), 1, int64(2)}, got); diff != "" {
			t.Errorf("by the other endpoint (-want +got):\n%s", diff)
		}
		_, err := f.sets.Patch(t.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		wantError(t, err, apierrors.IsBadRequest)
		whole.ResourceVersion = ""
		_, err = f.sets.Update(t.Context(), whole, metav1.UpdateOptions{})
		wantError(t, err, apierrors.IsInvalid)
	})
	t.Run("a write that changes nothing makes no new version", func(t *testing.T) {
		f := newFixture(t)
		pod := f.pod()
		again := must(f.patch(types.MergePatchType, `{"metadata":{"labels":{"app":"web"}}}`))(t)
		if again.ResourceVersion != pod.ResourceVersion {
			t.Errorf("resourceVersion %s after %s", again.ResourceVersion, pod.ResourceVersion)
		}
	})
	t.Run("JSON patches", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		pod := must(f.patch(types.JSONPatchType, `[{"op":"replace","path":"/metadata/labels/app","value":"x"}]`))(t)
		if pod.Labels["app"] != "x" {
			t.Errorf("labels %v", pod.Labels)
		}
	})
	t.Run("the data of a revision does not change, byte for byte", func(t *testing.T) {
		f := newFixture(t)
		revisions := f.kube.AppsV1().ControllerRevisions("shop")
		data := `{"spec":{"a":"\u003c1\u003e","n":null,"x":1.5}}`
		r := must(revisions.Create(t.Context(), &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Name: "r"}, Data: runtime.RawExtension{Raw: []byte(data)}}, metav1.CreateOptions{}))(t)
		if got := string(r.Data.Raw); got != data {
			t.Errorf("data %s, want %s", got, data)
		}
		_, err := revisions.Patch(t.Context(), "r", types.MergePatchType, []byte(`{"data":{"x":1}}`), metav1.PatchOptions{})
		wantError(t, err, apierrors.IsInvalid)
	})
	t.Run("unknown fields live in custom resources only", func(t *testing.T) {
		f := newFixture(t)
		f.pod()
		must(f.sets.Create(t.Context(), cloneSet(), metav1.CreateOptions{}))(t)
		must(f.patch(types.MergePatchType, `{"spec":{"newer":1}}`))(t)
		must(f.sets.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"newer":1}}`), metav1.PatchOptions{}))(t)
		var objects [2]struct{ Spec map[string]any }
		for i, path := range []string{"/api/v1/namespaces/shop/pods/web", "/apis/apps.kruise.io/v1alpha1/namespaces/shop/clonesets/web"} {
			raw := must(f.kube.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(t.Context()))(t)
			if err := decodeJSON(raw, &objects[i]); err != nil {
				t.Fatal(err)
			}
		}
		if objects[0].Spec["newer"] != nil || objects[1].Spec["newer"] == nil {
			t.Errorf("pod %v, CloneSet %v", objects[0].Spec["newer"], objects[1].Spec["newer"])
		}
	})
}

func TestFailures(t *testing.T) {
	t.Run("a refused request is counted and does nothing", func(t *testing.T) {
		f := newFixture(t)
		f.FailBefore(func(r fakecluster.Request) error {
			if r.Verb == "create" && r.Resource == "pods" {
				return apierrors.NewForbidden(corev1.Resource("pods"), r.Name, context.DeadlineExceeded)
			}
			return nil
		})
		_, err := f.kube.CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
		wantError(t, err, apierrors.IsForbidden)
		_, err = f.get("web")
		wantError(t, err, apierrors.IsNotFound)
		if diff := cmp.Diff(map[string]int{"create pods": 1, "get pods": 1}, f.Count("test")); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		f.ForgetRequests()
		if n := len(f.Requests("")); n != 0 {
			t.Errorf("%d requests left", n)
		}
	})
	t.Run("an answer that is lost", func(t *testing.T) {
		f := newFixture(t)
		f.FailAfter(func(fakecluster.Request) error { return context.DeadlineExceeded })
		_, err := f.kube.CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
		if err == nil {
			t.Error("no error")
		}
		f.FailAfter(nil)
		must(f.get("web"))(t)
	})
	t.Run("users are told apart", func(t *testing.T) {
		f := newFixture(t)
		must(must(kubernetes.NewForConfig(f.Config("other")))(t).CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{}))(t)
		if f.Count("other")["list pods"] != 1 || len(f.Count("test")) != 0 {
			t.Errorf("requests %v and %v", f.Count("other"), f.Count("test"))
		}
	})
	t.Run("a resource that is not served", func(t *testing.T) {
		f := newFixture(t)
		_, err := f.kube.CoreV1().Secrets("shop").Get(t.Context(), "x", metav1.GetOptions{})
		wantError(t, err, apierrors.IsNotFound)
	})
	t.Run("protobuf is not served", func(t *testing.T) {
		f := newFixture(t)
		config := rest.CopyConfig(f.Config("test"))
		config.ContentType = runtime.ContentTypeProtobuf
		_, err := must(kubernetes.NewForConfig(config))(t).CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{})
		if err == nil {
			t.Error("no error")
		}
	})
}
