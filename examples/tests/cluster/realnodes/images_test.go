// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
)

func TestPodRuns(t *testing.T) {
	t.Parallel()
	image := addImage(t, "v1", registry.Image{})
	pod := newPod(t, newNamespace(t), image, nil)
	pod = eventuallyPod(t, pod, "ready", isReady)
	if pod.Status.HostIP != node(t).IP {
		t.Errorf("the host's address is %s, want %s", pod.Status.HostIP, node(t).IP)
	}
	if got := mainOf(pod).Image; got != image {
		t.Errorf("the container runs %s, want %s", got, image)
	}
	if got := shared.Images().Pulls(image); got != 1 {
		t.Errorf("%d pulls, want 1", got)
	}
}

// A new image restarts the container; the pod, its address and its sandbox stay.
func TestImageUpdate(t *testing.T) {
	t.Parallel()
	first, second := addImage(t, "v1", registry.Image{}), addImage(t, "v2", registry.Image{})
	before := newPod(t, newNamespace(t), first, nil)
	before = eventuallyPod(t, before, "ready", isReady)
	patch := fmt.Appendf(nil, `[{"op":"replace","path":"/spec/containers/0/image","value":%q}]`, second)
	if _, err := client.CoreV1().Pods(before.Namespace).Patch(t.Context(), before.Name, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	after := eventuallyPod(t, before, "running the new image", func(pod *corev1.Pod) bool {
		return isReady(pod) && mainOf(pod).Image == second
	})
	if after.UID != before.UID || after.Status.PodIP != before.Status.PodIP {
		t.Errorf("the pod was %s at %s, and is %s at %s", before.UID, before.Status.PodIP, after.UID, after.Status.PodIP)
	}
	if got := mainOf(after); got.RestartCount != 1 || got.ContainerID == mainOf(before).ContainerID || got.ImageID == mainOf(before).ImageID {
		t.Errorf("the container was %v\nand is %v", mainOf(before), got)
	}
}

// Pods may name an image by its digest.
func TestImageByDigest(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	name := "registry.test/digest:v1"
	byDigest, err := shared.Images().Add(name, registry.Image{Labels: map[string]string{"name": name}})
	if err != nil {
		t.Fatal(err)
	}
	pod := newPod(t, newNamespace(t), byDigest, nil)
	pod = eventuallyPod(t, pod, "ready", isReady)
	if got := mainOf(pod).ImageID; got != byDigest {
		t.Errorf("the image ID is %s, want %s", got, byDigest)
	}
}

func TestHeldPull(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	image := addImage(t, "v1", registry.Image{})
	release, err := shared.Images().Hold(image)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	pod := newPod(t, newNamespace(t), image, nil)
	eventually(t, func(ctx context.Context) string {
		events, err := client.CoreV1().Events(pod.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Pulling"})
		if err != nil || len(events.Items) == 0 {
			return fmt.Sprintf("no pull has begun (%v)", err)
		}
		return ""
	})
	eventuallyPod(t, pod, "waiting for its image", waitsFor("", "ContainerCreating"))
	if got := shared.Images().Pulls(image); got != 0 {
		t.Errorf("%d pulls of an image that is held, want 0", got)
	}
	release()
	eventuallyPod(t, pod, "ready", isReady)
}

func TestMissingImage(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	pod := newPod(t, newNamespace(t), "registry.test/missing:v1", nil)
	eventuallyPod(t, pod, "failing to pull", waitsFor("not found", "ErrImagePull", "ImagePullBackOff"))
	eventuallyPod(t, pod, "waiting before the next pull", waitsFor("not found", "ImagePullBackOff"))
}

func TestRefusedPull(t *testing.T) {
	t.Parallel()
	image := addImage(t, "v1", registry.Image{})
	if err := shared.Images().Behave(image, registry.Behaviour{Status: http.StatusInternalServerError}); err != nil {
		t.Fatal(err)
	}
	pod := newPod(t, newNamespace(t), image, nil)
	eventuallyPod(t, pod, "failing to pull", waitsFor("500 Internal Server Error", "ErrImagePull", "ImagePullBackOff"))
}

func TestImagePullSecret(t *testing.T) {
	t.Parallel()
	image := addImage(t, "v1", registry.Image{})
	if err := shared.Images().Behave(image, registry.Behaviour{Username: "user", Password: "word"}); err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t)
	without := newPod(t, namespace, image, nil)
	eventuallyPod(t, without, "refused", waitsFor("no basic auth credentials", "ErrImagePull", "ImagePullBackOff"))

	makePullSecret(t, namespace, "wrong", "user:else")
	wrong := newPod(t, namespace, image, withSecret("wrong"))
	eventuallyPod(t, wrong, "refused", waitsFor("401 Unauthorized", "ErrImagePull", "ImagePullBackOff"))

	makePullSecret(t, namespace, "right", "user:word")
	with := newPod(t, namespace, image, withSecret("right"))
	eventuallyPod(t, with, "ready", isReady)
}

func withSecret(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: name}} }
}

func makePullSecret(t *testing.T, namespace, name, credentials string) {
	t.Helper()
	config := fmt.Sprintf(`{"auths":{"registry.test":{"auth":%q}}}`, base64.StdEncoding.EncodeToString([]byte(credentials)))
	_, err := client.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}
