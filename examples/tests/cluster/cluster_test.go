// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/tests/cluster"
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
	c, err := cluster.Start(context.Background(), cluster.Options{Log: os.Stderr, Audit: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared, client = c, kubernetes.NewForConfigOrDie(c.Config())
	code := m.Run()
	if err := stopLeavesNothing(c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// stopLeavesNothing stops a cluster whose components all run.
func stopLeavesNothing(c *cluster.Cluster) error {
	dir := c.Dir()
	before := processesIn(dir)
	err := c.Stop()
	if again := c.Stop(); again != nil {
		err = errors.Join(err, fmt.Errorf("the second Stop: %w", again))
	}
	if len(before) != 5 {
		err = errors.Join(err, fmt.Errorf("processes of a running cluster: %v", before))
	}
	if left := processesIn(dir); len(left) > 0 {
		err = errors.Join(err, fmt.Errorf("processes left: %v", left))
	}
	if _, failure := os.Stat(dir); !errors.Is(failure, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("%s is left (%w)", dir, failure))
	}
	return err
}

// patience is how long a test waits for something that should happen in a second or two.
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
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// eventuallyPod waits until the pod satisfies want, and returns it.
func eventuallyPod(t *testing.T, namespace, name, what string, want func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually(t, func(ctx context.Context) string {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if found = pod; !want(pod) {
			return fmt.Sprintf("pod %s is not %s; its status: %v", name, what, pod.Status)
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

// newPod creates a pod with one container of the image, named main, after edit has changed it.
func newPod(t *testing.T, namespace, image string, edit func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "pod-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
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

func condition(pod *corev1.Pod, conditionType corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return corev1.PodCondition{}
}

func isReady(pod *corev1.Pod) bool {
	return condition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}
