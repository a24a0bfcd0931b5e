// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	agentapp "github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/tests/testbed"
)

// The pull secret of a job is copied to a namespace in which nodes may read it, for as long as a job needs it. With the
// rights of an agent no client reads any other secret of the cluster.
func TestImagePullSecrets(t *testing.T) {
	t.Parallel()
	s := &secrets{Scene: steady.NewScene(t, nil)}
	distribution, err := client.NewForConfig(steady.Config())
	s.must(err)
	jobs, node := distribution.ImagePullJobs(s.Namespace), (&images{Scene: s.Scene, client: distribution.NodeImages()}).awaitNodeImages()[0]
	_, err = steady.Core.CoreV1().Secrets(s.Namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{"registry.example":{"username":"u","password":"p"}}}`)},
	}, metav1.CreateOptions{})
	s.must(err)
	image := "registry.example/" + s.Namespace // of this test alone
	for _, name := range []string{"a", "b"} {
		_, err := jobs.Create(t.Context(), &v1alpha1.ImagePullJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ImagePullJobSpec{
			Image: image, PullSecrets: []string{"registry"}, CompletionPolicy: v1alpha1.CompletionPolicy{Type: v1alpha1.Never},
			Selector: &v1alpha1.ImagePullJobNodeSelector{Names: []string{node}},
		}}, metav1.CreateOptions{})
		s.must(err)
	}
	s.awaitReferences("IMG-1.6: both jobs have the copy", s.Namespace+"/a,"+s.Namespace+"/b")
	var ref v1alpha1.ReferenceObject
	s.AwaitAsking("IMG-1.6: the task refers to the copy", func() string {
		n, err := distribution.NodeImages().Get(t.Context(), node, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		refs := n.Spec.Images[image].PullSecrets
		if len(refs) != 1 || refs[0].Namespace != "kruise-daemon-config" {
			return fmt.Sprint(refs)
		}
		ref = refs[0]
		return ""
	})
	s.readsAsAgent(ref)
	for _, end := range []struct{ job, left string }{{"a", s.Namespace + "/b"}, {"b", ""}} {
		s.must(jobs.Delete(t.Context(), end.job, metav1.DeleteOptions{}))
		s.awaitReferences("IMG-1.6: job "+end.job+" is deleted", end.left)
	}
}

type secrets struct{ *testbed.Scene }

func (s *secrets) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// awaitReferences waits until jobs have the copy of a secret of this test; empty: until it is gone.
func (s *secrets) awaitReferences(what, want string) {
	s.Helper()
	s.AwaitAsking(what, func() string {
		list, err := steady.Core.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).List(s.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		got := ""
		for _, copied := range list.Items {
			if strings.HasPrefix(copied.Annotations[v1alpha1.PullSecretSourceAnnotation], s.Namespace+"/") {
				got = copied.Annotations[v1alpha1.PullSecretReferencesAnnotation]
			}
		}
		if got != want {
			return fmt.Sprintf("the copy is for %q, want %q", got, want)
		}
		return ""
	})
}

// readsAsAgent reads secrets with the token of an agent: the copy, and nothing else.
func (s *secrets) readsAsAgent(copied v1alpha1.ReferenceObject) {
	s.Helper()
	manifest, err := agentapp.Manifest(agentapp.NewConfig(func(string) string { return "" }))
	s.must(err)
	account, err := steady.Control.Account(s.Context(), manifest)
	s.must(err)
	config, err := clientcmd.BuildConfigFromFlags("", account.Kubeconfig)
	s.must(err)
	agent := typedcorev1.NewForConfigOrDie(config)
	s.AwaitAsking("IMG-3.11: the agent reads the copy", func() string {
		secret, err := agent.Secrets(copied.Namespace).Get(s.Context(), copied.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if len(secret.Data) != 1 {
			return fmt.Sprintf("%d entries", len(secret.Data))
		}
		return ""
	})
	for namespace, name := range map[string]string{s.Namespace: "registry", "kruise-system": "kruise-webhook-certs", "kube-system": "any"} {
		if _, err := agent.Secrets(namespace).Get(s.Context(), name, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
			s.Errorf("IMG-3.11: the agent asks for secret %s/%s, and gets the error %v, want it forbidden", namespace, name, err)
		}
	}
	if _, err := agent.Secrets(copied.Namespace).List(s.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		s.Errorf("IMG-3.11: the agent lists the copies, and gets the error %v, want it forbidden", err)
	}
}
