package realnodes

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/podwright/podwright/examples/cluster/registry"
	"github.com/podwright/podwright/examples/manager/crds"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclecrds "github.com/podwright/podwright/lifecycle/crds"
	"github.com/podwright/podwright/lifecycle/recreate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// What containers do when they are told to stop.
const (
	endsAtOnce = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
	doesNotEnd = "trap '' TERM; while :; do sleep 0.1; done"
)

// runManager runs the manager's half of ContainerRecreateRequests until the test
// ends, and returns a client of them.
func runManager(t *testing.T) lifecycleclient.ContainerRecreateRequestInterface {
	t.Helper()
	if err := crds.Install(t.Context(), dynamic.NewForConfigOrDie(shared.Config()), lifecyclecrds.All()); err != nil {
		t.Fatal(err)
	}
	lifecycle, err := lifecycleclient.NewForConfig(shared.Config())
	if err != nil {
		t.Fatal(err)
	}
	manager, err := recreate.New(recreate.Options{Kubernetes: client, Lifecycle: lifecycle})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := manager.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return lifecycle.ContainerRecreateRequests("default")
}

// newShellPod creates a pod with the containers main and side, which run a
// command each, and waits until both run.
func newShellPod(t *testing.T, name, main, side string, edits ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	image := "registry.test/" + name + ":v1"
	if _, err := shared.Images().Add(image, registry.Image{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: shared.RealNodes()[0].Name, TerminationGracePeriodSeconds: new(int64(20)),
			Containers: []corev1.Container{
				{Name: "main", Image: image, Command: []string{"sh", "-c", main}},
				{Name: "side", Image: image, Command: []string{"sh", "-c", side}},
			},
		},
	}
	for _, edit := range edits {
		edit(pod)
	}
	pod, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.CoreV1().Pods("default").Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
	return await(t, pod, "running", func(pod *corev1.Pod) bool { return statusOf(pod, "main").Ready && statusOf(pod, "side").Ready })
}

func statusOf(pod *corev1.Pod, name string) corev1.ContainerStatus {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == name {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// newRequest creates a request for containers of a pod as the webhook leaves it.
func newRequest(t *testing.T, requests lifecycleclient.ContainerRecreateRequestInterface, pod *corev1.Pod,
	strategy lifecyclev1alpha1.ContainerRecreateRequestStrategy, containers ...string) {
	t.Helper()
	r := &lifecyclev1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: pod.Name},
		Spec:       lifecyclev1alpha1.ContainerRecreateRequestSpec{PodName: pod.Name, Strategy: &strategy},
	}
	for _, name := range containers {
		r.Spec.Containers = append(r.Spec.Containers, lifecyclev1alpha1.ContainerRecreateRequestContainer{Name: name})
	}
	recreate.Default(r, pod)
	if _, err := requests.Create(t.Context(), r, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = requests.Delete(context.Background(), pod.Name, metav1.DeleteOptions{}) })
}

// awaitRequest waits until the request for a pod satisfies want, and returns it.
func awaitRequest(t *testing.T, requests lifecycleclient.ContainerRecreateRequestInterface, name, what string,
	want func(*lifecyclev1alpha1.ContainerRecreateRequest) bool) *lifecyclev1alpha1.ContainerRecreateRequest {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		r, err := requests.Get(ctx, name, metav1.GetOptions{})
		if err == nil && want(r) {
			return r
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %s request %s is not %s: %+v, error %v", patience, name, what, r, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// completed waits for the end of a request, at which both containers must be
// back, and returns the pod.
func completed(t *testing.T, requests lifecycleclient.ContainerRecreateRequestInterface, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	r := awaitRequest(t, requests, pod.Name, "completed", func(r *lifecyclev1alpha1.ContainerRecreateRequest) bool { return r.Status.CompletionTime != nil })
	for _, s := range r.Status.ContainerRecreateStates {
		if s.Phase != lifecyclev1alpha1.ContainerRecreateRequestSucceeded || r.Status.Message != "" {
			t.Errorf("the request is completed with %+v", r.Status)
		}
	}
	now, err := client.CoreV1().Pods("default").Get(t.Context(), pod.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if now.Status.PodIP != pod.Status.PodIP {
		t.Errorf("the pod had the address %s and has %s", pod.Status.PodIP, now.Status.PodIP)
	}
	return now
}

// ended checks how a container ended the last time, and that it was restarted
// once. It returns when it ended.
func ended(t *testing.T, pod *corev1.Pod, name string, code int32) time.Time {
	t.Helper()
	s := statusOf(pod, name)
	last := s.LastTerminationState.Terminated
	if s.RestartCount != 1 || last == nil || last.ExitCode != code {
		t.Fatalf("container %s: want one restart, after the exit code %d: %+v", name, code, s)
	}
	return last.FinishedAt.Time
}

// Containers are recreated in their order, each after its preStop hook, and
// without a signal that kills.
func TestRecreateInOrder(t *testing.T) {
	requests := runManager(t)
	runAgent(t)
	pod := newShellPod(t, "ordered", endsAtOnce, endsAtOnce, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "3"}}}}
	})
	start := time.Now()
	newRequest(t, requests, pod, lifecyclev1alpha1.ContainerRecreateRequestStrategy{OrderedRecreate: true}, "main", "side")
	pod = completed(t, requests, pod)
	main, side := ended(t, pod, "main", 0), ended(t, pod, "side", 0)
	if after := main.Sub(start); after < 2*time.Second || after > 15*time.Second {
		t.Errorf("main ended %s after the request, want its hook of 3s to have run, and not the grace period of 20s", after)
	}
	if back := statusOf(pod, "main").State.Running; back == nil || side.Before(back.StartedAt.Time) {
		t.Errorf("side ended at %s, before main was back: %+v", side, back)
	}
}

// What does not end within the grace period is killed, and a container that is
// not named is not touched.
func TestRecreateGracePeriod(t *testing.T) {
	requests := runManager(t)
	runAgent(t)
	pod := newShellPod(t, "grace", doesNotEnd, endsAtOnce)
	start := time.Now()
	newRequest(t, requests, pod, lifecyclev1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(4))}, "main")
	pod = completed(t, requests, pod)
	if after := ended(t, pod, "main", 137).Sub(start); after < 3*time.Second || after > 15*time.Second {
		t.Errorf("main ended after %s, want its grace period of 4s", after)
	}
	if s := statusOf(pod, "side"); s.RestartCount != 0 {
		t.Errorf("side was restarted: %+v", s)
	}
}

// An agent that ends in the middle of a stop leaves it to the next one, which
// stops nothing else, also where that is asked for by force.
func TestRecreateAgentIsRestarted(t *testing.T) {
	requests := runManager(t)
	stop := runAgent(t)
	pod := newShellPod(t, "midway", doesNotEnd, endsAtOnce)
	newRequest(t, requests, pod, lifecyclev1alpha1.ContainerRecreateRequestStrategy{TerminationGracePeriodSeconds: new(int64(4)), ForceRecreate: true}, "main", "side")
	awaitRequest(t, requests, pod.Name, "begun", func(r *lifecyclev1alpha1.ContainerRecreateRequest) bool {
		return len(r.Status.ContainerRecreateStates) > 0 && r.Status.ContainerRecreateStates[0].IsKilled
	})
	stop()
	runAgent(t)
	pod = completed(t, requests, pod)
	ended(t, pod, "main", 137)
	ended(t, pod, "side", 0)
}
