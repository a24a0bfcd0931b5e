// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestDeploymentBecomesAvailable(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	labels := map[string]string{"app": "web"}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
			},
		},
	}
	if _, err := client.AppsV1().Deployments(namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) string {
		found, err := client.AppsV1().Deployments(namespace).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if found.Status.AvailableReplicas != 3 {
			return fmt.Sprintf("%d of 3 pods are available", found.Status.AvailableReplicas)
		}
		return ""
	})

	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for _, pod := range pods.Items {
		if pod.Status.PodIP == "" || addresses[pod.Status.PodIP] || pod.Status.HostIP == "" {
			t.Errorf("pod %s has the addresses %q on %q", pod.Name, pod.Status.PodIP, pod.Status.HostIP)
		}
		addresses[pod.Status.PodIP] = true
		status := pod.Status.ContainerStatuses[0]
		if status.Image != "web:1" || status.ImageID == "" || status.ContainerID == "" || status.State.Running == nil {
			t.Errorf("pod %s has the container status %v", pod.Name, status)
		}
	}
}

func TestInitContainersHaveStatuses(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{
			{Name: "setup", Image: "setup:1"},
			{Name: "proxy", Image: "proxy:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		}
	})
	pod = eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	statuses := pod.Status.InitContainerStatuses
	if len(statuses) != 2 || statuses[0].State.Terminated == nil || statuses[1].State.Running == nil {
		t.Errorf("the init containers have the statuses %v", statuses)
	}
}

// A readiness gate is set by its owner only, and Ready follows it both ways.
func TestReadinessGates(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	})
	closed := func(pod *corev1.Pod) bool {
		return condition(pod, corev1.ContainersReady).Status == corev1.ConditionTrue &&
			condition(pod, corev1.PodReady).Reason == "ReadinessGatesNotReady"
	}
	pod = eventuallyPod(t, namespace, pod.Name, "held by its gate", closed)
	if gate := condition(pod, "example.com/gate"); gate.Type != "" {
		t.Errorf("the gate is set: %v", gate)
	}
	setGate := func(status corev1.ConditionStatus) {
		t.Helper()
		patchStatus(t, namespace, pod.Name,
			fmt.Sprintf(`{"status":{"conditions":[{"type":"example.com/gate","status":%q}]}}`, status))
	}
	setGate(corev1.ConditionTrue)
	pod = eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	if reason := condition(pod, corev1.PodReady).Reason; reason != "" {
		t.Errorf("a ready pod still says %s", reason)
	}
	setGate(corev1.ConditionFalse)
	eventuallyPod(t, namespace, pod.Name, "held by its gate", closed)
}

func TestImageChangeRestartsOneContainerInPlace(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "other:1"})
	})
	before := eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	setImage(t, namespace, pod.Name, "web:2")
	eventuallyPod(t, namespace, pod.Name, "unready while it restarts", func(pod *corev1.Pod) bool {
		return !isReady(pod) && !pod.Status.ContainerStatuses[0].Ready
	})
	after := eventuallyPod(t, namespace, pod.Name, "restarted", func(pod *corev1.Pod) bool {
		return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
	})
	if after.UID != before.UID || after.Status.PodIP != before.Status.PodIP {
		t.Errorf("pod %s at %s became %s at %s", before.UID, before.Status.PodIP, after.UID, after.Status.PodIP)
	}
	was, is := before.Status.ContainerStatuses, after.Status.ContainerStatuses
	if is[0].Image != "web:2" || is[0].ImageID == was[0].ImageID || is[0].ContainerID == was[0].ContainerID {
		t.Errorf("the container status %v became %v", was[0], is[0])
	}
	if last := is[0].LastTerminationState.Terminated; last == nil || last.ContainerID != was[0].ContainerID {
		t.Errorf("the last termination is %v, want one of %s", last, was[0].ContainerID)
	}
	if is[1].ContainerID != was[1].ContainerID || is[1].RestartCount != 0 {
		t.Errorf("the other container restarted: %v", is[1])
	}
	if is[0].RestartCount != 1 || after.Status.ObservedGeneration != after.Generation {
		t.Errorf("restarts: %d; observed generation %d of %d",
			is[0].RestartCount, after.Status.ObservedGeneration, after.Generation)
	}
}

func TestBadImage(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	waits := func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].State.Waiting != nil &&
			pod.Status.ContainerStatuses[0].State.Waiting.Reason == "ImagePullBackOff" &&
			condition(pod, corev1.ContainersReady).Status == corev1.ConditionFalse
	}

	t.Run("from the beginning", func(t *testing.T) {
		pod := newPod(t, namespace, "registry/bad/web:1", nil)
		pod = eventuallyPod(t, namespace, pod.Name, "waiting for its image", waits)
		if pod.Status.Phase != corev1.PodPending {
			t.Errorf("the phase is %s", pod.Status.Phase)
		}
		setImage(t, namespace, pod.Name, "web:1")
		pod = eventuallyPod(t, namespace, pod.Name, "ready", isReady)
		if restarts := pod.Status.ContainerStatuses[0].RestartCount; restarts != 0 {
			t.Errorf("the first start counts as restart %d", restarts)
		}
	})
	t.Run("in place and back", func(t *testing.T) {
		pod := newPod(t, namespace, "web:1", nil)
		before := eventuallyPod(t, namespace, pod.Name, "ready", isReady)
		setImage(t, namespace, pod.Name, "web:bad")
		pod = eventuallyPod(t, namespace, pod.Name, "waiting for its image", waits)
		if pod.Status.Phase != corev1.PodRunning || pod.Status.ContainerStatuses[0].Image != "web:1" {
			t.Errorf("phase %s, container status %v", pod.Status.Phase, pod.Status.ContainerStatuses[0])
		}
		setImage(t, namespace, pod.Name, "web:1")
		pod = eventuallyPod(t, namespace, pod.Name, "ready", isReady)
		if status := pod.Status.ContainerStatuses[0]; status.RestartCount != 1 || status.Image != "web:1" {
			t.Errorf("container status %v", status)
		}
		if pod.Status.PodIP != before.Status.PodIP {
			t.Errorf("the address %s became %s", before.Status.PodIP, pod.Status.PodIP)
		}
	})
}

// A test plays a crash by writing it into the status.
func TestCrashedContainerStartsAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", nil)
	eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	patchStatus(t, namespace, pod.Name, `{"status":{"containerStatuses":[{"name":"main","image":"web:1","imageID":"x",
		"restartCount":0,"ready":false,"state":{"terminated":{"exitCode":137}}}]}}`)
	pod = eventuallyPod(t, namespace, pod.Name, "restarted", func(pod *corev1.Pod) bool {
		return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
	})
	if last := pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.ExitCode != 137 {
		t.Errorf("the last termination is %v", last)
	}
}

func TestUnreadyContainerStaysUnready(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	pod := newPod(t, namespace, "web:1", nil)
	pod = eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	pod.Status.ContainerStatuses[0].Ready = false
	if _, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPod(t, namespace, pod.Name, "unready", func(pod *corev1.Pod) bool {
		return condition(pod, corev1.PodReady).Reason == "ContainersNotReady" && pod.Status.Phase == corev1.PodRunning
	})
}

func TestPodsThatRunToCompletion(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	for image, want := range map[string]corev1.PodPhase{
		"job:1":    corev1.PodSucceeded,
		"job:fail": corev1.PodFailed,
	} {
		pod := newPod(t, namespace, image, func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever })
		eventuallyPod(t, namespace, pod.Name, string(want), func(pod *corev1.Pod) bool { return pod.Status.Phase == want })
	}
	pod := newPod(t, namespace, "job:fail", func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	eventuallyPod(t, namespace, pod.Name, "restarted", func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	pod = newPod(t, namespace, "job:1", func(pod *corev1.Pod) {
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "sidecar", Image: "proxy:forever"})
	})
	eventuallyPod(t, namespace, pod.Name, "half over", func(pod *corev1.Pod) bool {
		statuses := pod.Status.ContainerStatuses
		return pod.Status.Phase == corev1.PodRunning && len(statuses) == 2 &&
			statuses[0].State.Terminated != nil && statuses[1].State.Running != nil
	})
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	const finalizer = "example.com/hold"
	pod := newPod(t, namespace, "web:1", func(pod *corev1.Pod) { pod.Finalizers = []string{finalizer} })
	eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	if err := client.CoreV1().Pods(namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventuallyPod(t, namespace, pod.Name, "being deleted", func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if _, err := client.CoreV1().Pods(namespace).Patch(t.Context(), pod.Name, types.MergePatchType,
		[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) string {
		if _, err := client.CoreV1().Pods(namespace).Get(ctx, pod.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("the pod is still there (%v)", err)
		}
		return ""
	})
}

func TestVolumeClaimBinds(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	claims := client.CoreV1().PersistentVolumeClaims(namespace)
	if _, err := claims.Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := newPod(t, namespace, "db:1", func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}
	})
	eventuallyPod(t, namespace, pod.Name, "ready", isReady)
	found, err := claims.Get(t.Context(), "data", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.Status.Phase != corev1.ClaimBound {
		t.Errorf("the claim is %s", found.Status.Phase)
	}
}

func setImage(t *testing.T, namespace, name, image string) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","image":%q}]}}`, image)
	if _, err := client.CoreV1().Pods(namespace).Patch(t.Context(), name, types.StrategicMergePatchType,
		[]byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func patchStatus(t *testing.T, namespace, name, patch string) {
	t.Helper()
	if _, err := client.CoreV1().Pods(namespace).Patch(t.Context(), name, types.StrategicMergePatchType,
		[]byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
}
