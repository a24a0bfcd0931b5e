// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"
	"strings"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// copyName is the name of the copy of a secret.
func copyName(name string) string {
	copied, _ := images.CopyName(types.NamespacedName{Namespace: namespace, Name: name})
	return copied
}

// addSecret adds a secret with credentials, in whose place stands a word.
func (c *cluster) addSecret(name, word string) {
	c.Helper()
	_, err := c.kube.CoreV1().Secrets(namespace).Create(c.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(word)},
	}, metav1.CreateOptions{})
	c.Must(err)
	synctest.Wait()
}

// copies shows the secrets in the namespace of the agents, as "source: content, for jobs".
func (c *cluster) copies() []string {
	c.Helper()
	list, err := c.kube.CoreV1().Secrets(v1alpha1.DaemonConfigNamespace).List(c.Context(), metav1.ListOptions{})
	c.Must(err)
	out := []string{}
	for _, s := range list.Items {
		var content []string
		for key, data := range s.Data {
			content = append(content, key+" "+string(data))
		}
		out = append(out, fmt.Sprintf("%s: %s, for %s", s.Annotations["imagepulljobs.kruise.io/source-key"], strings.Join(content, " "), s.Annotations["imagepulljobs.kruise.io/references"]))
	}
	slices.Sort(out)
	return out
}
