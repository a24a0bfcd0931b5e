// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// by gives an image the copies of secrets of the namespace default.
func by(image string, secrets ...string) change {
	return byOf("default", image, secrets...)
}

// byOf gives an image the copies of secrets of a namespace.
func byOf(namespace, image string, secrets ...string) change {
	return func(n *v1alpha1.NodeImage) {
		of := n.Spec.Images[image]
		for _, name := range secrets {
			of.PullSecrets = append(of.PullSecrets, copyOf(namespace, name))
		}
		n.Spec.Images[image] = of
	}
}

func copyOf(namespace, name string) v1alpha1.ReferenceObject {
	copied, _ := images.CopyName(types.NamespacedName{Namespace: namespace, Name: name})
	return v1alpha1.ReferenceObject{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied}
}

// ownedBy has jobs of namespaces own a task.
func ownedBy(namespaces ...string) func(*v1alpha1.ImageTagSpec) {
	return func(t *v1alpha1.ImageTagSpec) {
		for _, namespace := range namespaces {
			t.OwnerReferences = append(t.OwnerReferences, images.TaskOwner(&v1alpha1.ImagePullJob{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pull", UID: types.UID(namespace)}}))
		}
	}
}

func dockerConfig(registry, user string) []byte {
	return fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":"p"}}}`, registry, user)
}

// addSecret adds the copy of a secret of the namespace default, with a user for a registry.
func (n *node) addSecret(name, registry, user string) {
	n.Helper()
	n.addCopy("default", name, registry, user)
}

// addCopy adds the copy of a secret.
func (n *node) addCopy(namespace, name, registry, user string) {
	n.Helper()
	of := copyOf(namespace, name)
	n.createSecret(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name, Annotations: map[string]string{v1alpha1.PullSecretSourceAnnotation: namespace + "/" + name}},
		Type:       corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(registry, user)},
	})
}

func (n *node) createSecret(secret *corev1.Secret) {
	n.Helper()
	_, err := n.kube.CoreV1().Secrets(secret.Namespace).Create(n.Context(), secret, metav1.CreateOptions{})
	n.Must(err)
}

// guarded has the runtime pull for one user only. It returns who has asked; an
// empty name stands for none.
func (n *node) guarded(user string) *[]string {
	asked := &[]string{}
	n.runtime.Pull = func(_ context.Context, request *criv1.PullImageRequest) error {
		name := request.GetAuth().GetUsername()
		*asked = append(*asked, name)
		if name != user {
			return errors.New("unauthorized: " + name)
		}
		return nil
	}
	return asked
}

func TestStorySecrets(t *testing.T) {
	play(t, func(n *node) {
		n.options.DockerConfig = filepath.Join(n.TempDir(), "config.json")
		n.Must(os.WriteFile(n.options.DockerConfig, dockerConfig("quay.io", "node"), 0o600))
		n.addSecret("one", "quay.io", "one")
		n.addSecret("two", "quay.io", "two")
		n.addSecret("hub", "https://index.docker.io/v1/", "hub")
		asked := n.guarded("node")
		n.start()
		n.Sleep(10 * time.Second)
		n.Want("IMG-3.3: each that matches in turn, and nobody without", []string{"one", "two", "node"}, *asked)
		n.expect("IMG-3.3: pulled", "quay.io/web:1 v1 Succeeded 100% quay.io/web@sha256:quay.io/web:1")
		n.Want("IMG-3.2: secrets are read one by one, a missing one is skipped", []string{"4 get secrets", "2 patch nodeimages/status"}, n.Sent(n.user()))
		for _, request := range n.Server.Requests(n.user()) {
			if request.Resource == "secrets" && request.Verb != "get" {
				n.Errorf("IMG-3.2: %s secrets", request.Verb)
			}
		}

		n.edit(wants("quay.io/other", "1"), by("quay.io/other", "one"))
		n.Sleep(10 * time.Second)
		n.Want("IMG-3.2: a secret is remembered", []string{"2 patch nodeimages/status"}, n.Sent(n.user()))
		n.Sleep(10 * time.Minute)
		n.edit(wants("quay.io/third", "1"), by("quay.io/third", "one"))
		n.Sleep(10 * time.Second)
		n.Want("IMG-3.2: but not for ever", []string{"1 get secrets", "2 patch nodeimages/status"}, n.Sent(n.user()))
	}, wants("quay.io/web", "1"), by("quay.io/web", "missing", "hub", "one", "two"))
}

// IMG-3.3: no match: anonymous.
func TestStoryAnonymous(t *testing.T) {
	play(t, func(n *node) {
		n.addSecret("hub", "https://index.docker.io/v1/", "hub")
		asked := n.guarded("")
		n.start()
		n.Sleep(10 * time.Second)
		n.Want("IMG-3.3 difference: the credential of Docker Hub is not shown", []string{""}, *asked)
	}, wants("quay.io/web", "1"), by("quay.io/web", "hub", "missing"))
}

func TestStoryAllCredentialsFail(t *testing.T) {
	play(t, func(n *node) {
		n.addSecret("one", "quay.io", "one")
		n.addSecret("two", "quay.io/web", "two")
		asked := n.guarded("nobody")
		n.start()
		n.Sleep(10 * time.Second)
		n.Want("IMG-3.3: no anonymous fallback", []string{"two", "one"}, *asked)
		prefix := "container runtime unix:///run/test.sock: pull image quay.io/web:1: rpc error: code = Unknown desc = unauthorized: "
		n.expect("IMG-3.3: the errors are joined", "quay.io/web:1 v1 Failed 0% ("+prefix+"two\n"+prefix+"one\nsecret default/missing was left out: it does not exist)")
	}, wants("quay.io/web", "1", backoffLimit(0), ownedBy("default")), by("quay.io/web", "one", "two", "missing"))
}

// A secret that is corrected counts for the next attempt.
func TestStorySecretIsCorrected(t *testing.T) {
	play(t, func(n *node) {
		n.addSecret("one", "quay.io", "old")
		asked := n.guarded("new")
		n.start()
		of := copyOf("default", "one")
		n.Must(n.kube.CoreV1().Secrets(of.Namespace).Delete(n.Context(), of.Name, metav1.DeleteOptions{}))
		n.addSecret("one", "quay.io", "new")
		n.Sleep(10 * time.Second)
		n.Want("IMG-3.2 difference: read anew after a failure", []string{"old", "new"}, *asked)
	}, wants("quay.io/web", "1"), by("quay.io/web", "one"))
}

// What the API server does not tell is waited for; what it refuses is left out.
func TestStorySecretsUnreadable(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		asked []string
	}{
		"away":      {apierrors.NewServiceUnavailable("away"), []string{"one"}},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "one", errors.New("no")), []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(n *node) {
				n.addSecret("one", "quay.io", "one")
				asked := n.guarded(test.asked[0])
				n.Server.FailBefore(func(r fakecluster.Request) error {
					if r.User == n.user() && r.Resource == "secrets" {
						return test.err
					}
					return nil
				})
				n.start()
				n.Sleep(time.Minute)
				n.Server.FailBefore(nil)
				n.Sleep(time.Minute)
				n.Want("IMG-3.2: attempts", test.asked, *asked)
				n.expect("IMG-3.2: pulled", "quay.io/web:1 v1 Succeeded 100% quay.io/web@sha256:quay.io/web:1")
			}, wants("quay.io/web", "1", backoffLimit(0)), by("quay.io/web", "one"))
		})
	}
}

// IMG-3.3: labels and annotations of the sandbox go with the request, and only these.
// containerd shows less of it: it reads one annotation, and no labels.
func TestStorySandbox(t *testing.T) {
	play(t, func(n *node) {
		var got *criv1.PodSandboxConfig
		n.runtime.Pull = func(_ context.Context, request *criv1.PullImageRequest) error {
			got = request.GetSandboxConfig()
			return nil
		}
		n.start()
		n.Sleep(time.Second)
		if got != nil {
			n.Errorf("sandbox %v, want none where the task has none", got)
		}
		n.edit(wants("redis", "7"), func(nodeImage *v1alpha1.NodeImage) {
			of := nodeImage.Spec.Images["redis"]
			of.SandboxConfig = &v1alpha1.SandboxConfig{Labels: map[string]string{"a": "1"}, Annotations: map[string]string{"b": "2"}}
			nodeImage.Spec.Images["redis"] = of
		})
		n.Sleep(time.Second)
		if got.GetLabels()["a"] != "1" || got.GetAnnotations()["b"] != "2" || got.GetMetadata() != nil {
			n.Errorf("sandbox %v", got)
		}
	}, wants("nginx", "1"))
}
