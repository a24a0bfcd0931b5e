// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/cluster/registry"
)

// shared is the cluster of most tests; each uses a namespace of its own.
var (
	shared *cluster.Cluster
	client kubernetes.Interface
)

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv(orphanEnv) != "" {
		beParent()
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if missing := cluster.RealNodesMissing(); len(missing) > 0 {
		fmt.Printf("the tests of real nodes did not run: %v\n", &cluster.MissingError{Missing: missing})
		return 0
	}
	c, err := cluster.Start(context.Background(), cluster.Options{RealNodes: 2, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared, client = c, kubernetes.NewForConfigOrDie(c.Config())
	code := m.Run()
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// patience is how long a test waits for something that should happen in some seconds.
const patience = 10 * time.Minute

// eventually calls check until it returns "", and fails with what it said last when that takes too long.
func eventually(t *testing.T, check func(ctx context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		wrong := check(ctx)
		if wrong == "" {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %s: %s", patience, wrong)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// eventuallyPod waits until the pod satisfies want, and returns it.
func eventuallyPod(t *testing.T, pod *corev1.Pod, what string, want func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually(t, func(ctx context.Context) string {
		now, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if found = now; !want(now) {
			return fmt.Sprintf("pod %s is not %s; its status: %v", pod.Name, what, now.Status)
		}
		return ""
	})
	return found
}

// newNamespace makes a namespace in which pods can be created, and removes it at the end of the test.
func newNamespace(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	namespace, err := cluster.NewNamespace(ctx, client, "test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), namespace, metav1.DeleteOptions{})
	})
	return namespace
}

// newPod creates a pod with one container of the image, named main, on the first node, after edit has changed it.
func newPod(t *testing.T, namespace, image string, edit func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"},
		Spec: corev1.PodSpec{
			NodeName:                      "real-0",
			Containers:                    []corev1.Container{{Name: "main", Image: image}},
			TerminationGracePeriodSeconds: new(int64(1)),
		},
	}
	if edit != nil {
		edit(pod)
	}
	pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// addImage serves an image by a name that no other test has, and returns the name. In different tests, images differ.
func addImage(t *testing.T, tag string, image registry.Image) string {
	t.Helper()
	name := fmt.Sprintf("registry.test/%x:%s", t.Name(), tag)
	image.Labels = map[string]string{"name": name}
	if _, err := shared.Images().Add(name, image); err != nil {
		t.Fatal(err)
	}
	return name
}

func node(t *testing.T) *cluster.RealNode {
	t.Helper()
	return shared.RealNodes()[0]
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// mainOf returns the status of the container.
func mainOf(pod *corev1.Pod) corev1.ContainerStatus {
	if len(pod.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[0]
}

// waitsFor says whether the container waits for one of the reasons, with a message that has the text in it.
func waitsFor(text string, reasons ...string) func(*corev1.Pod) bool {
	return func(pod *corev1.Pod) bool {
		waiting := mainOf(pod).State.Waiting
		return waiting != nil && slices.Contains(reasons, waiting.Reason) && strings.Contains(waiting.Message, text)
	}
}
