// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	"github.com/podwright/podwright/internal/testing/patches"
)

// named reads "namespace/name".
func named(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// copyOf is the name of the copy of a secret.
func copyOf(secret string) types.NamespacedName {
	copied, _ := images.CopyName(named(secret))
	return types.NamespacedName{Namespace: v1alpha1.DaemonConfigNamespace, Name: copied}
}

func dockerConfig(registry, user string) []byte {
	return fmt.Appendf(nil, `{"auths":{%q:{"username":%q,"password":"p"}}}`, registry, user)
}

// createSecret creates a secret with a user for a registry, perhaps as a copy.
func (n *node) createSecret(of types.NamespacedName, registry, user, source string) {
	n.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: dockerConfig(registry, user)}}
	if source != "" {
		secret.Annotations = map[string]string{v1alpha1.PullSecretSourceAnnotation: source}
	}
	_, err := n.Kube.CoreV1().Secrets(secret.Namespace).Create(n.Context(), secret, metav1.CreateOptions{})
	n.Must(err)
}

// refersTo gives an image references to secrets, or to what is of them.
func refersTo(image string, of func(secret string) types.NamespacedName, secrets ...string) change {
	return func(n *v1alpha1.NodeImage) {
		with := n.Spec.Images[image]
		for _, secret := range secrets {
			with.PullSecrets = append(with.PullSecrets, v1alpha1.ReferenceObject{Namespace: of(secret).Namespace, Name: of(secret).Name})
		}
		n.Spec.Images[image] = with
	}
}

// aboutSecrets are the commands about secrets, and what managers have asked for.
func (p *player) aboutSecrets() map[string]func(words []string, text string) {
	return map[string]func([]string, string){
		"asks": func(words []string, _ string) {
			text, err := os.ReadFile("testdata/managers/" + words[0])
			p.Must(err)
			p.edit(func(n *v1alpha1.NodeImage) {
				patches.Merge(p.T, &n.Spec, strings.ReplaceAll(string(text), "NOW", time.Now().UTC().Format(time.RFC3339)))
			})
		},
		"secrets": func(words []string, _ string) { p.edit(refersTo(words[0], copyOf, words[1:]...)) },
		"refer":   func(words []string, _ string) { p.edit(refersTo(words[0], named, words[1:]...)) },
		"mode": func(words []string, _ string) {
			p.edit(func(n *v1alpha1.NodeImage) {
				for i := range n.Spec.Images[words[0]].PullSecrets {
					n.Spec.Images[words[0]].PullSecrets[i].Mode = words[1]
				}
			})
		},
		"copy": func(words []string, _ string) { p.createSecret(copyOf(words[0]), words[1], words[2], words[0]) },
		"secret": func(words []string, _ string) {
			_, source, _ := strings.Cut(strings.Join(words[3:], ""), "of=")
			of := named(words[0])
			if lies, is := strings.CutPrefix(words[0], "copy-of-"); is {
				of = copyOf(lies)
			}
			p.createSecret(of, words[1], words[2], source)
		},
		"no-copy": func(words []string, _ string) {
			of := copyOf(words[0])
			p.Must(p.Kube.CoreV1().Secrets(of.Namespace).Delete(p.Context(), of.Name, metav1.DeleteOptions{}))
		},
		"fail-secrets": func(words []string, _ string) {
			err := map[string]error{
				"away":      apierrors.NewServiceUnavailable("away"),
				"forbidden": apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "one", errors.New("no")),
			}[words[0]]
			p.FailBefore(func(r fakecluster.Request) error {
				if r.User == p.User() && r.Resource == "secrets" {
					return err
				}
				return nil
			})
		},
		"option": func(words []string, _ string) {
			switch words[0] {
			case "read-source-secrets":
				p.options.ReadSourceSecrets = true
			case "credentials":
				p.options.Credentials = &p.clouds
			case "docker-config":
				p.options.DockerConfig = filepath.Join(p.TempDir(), "config.json")
				p.Must(os.WriteFile(p.options.DockerConfig, dockerConfig("quay.io", "node"), 0o600))
			}
		},
	}
}

// clouds gives credentials for one registry.
type clouds struct{ asked []string }

func (c *clouds) Credentials(_ context.Context, image string) ([]*criv1.AuthConfig, error) {
	c.asked = append(c.asked, "credentials asked for "+image)
	if strings.HasPrefix(image, "cloud.example/") {
		return []*criv1.AuthConfig{{Username: "node", Password: "token"}, nil}, nil
	}
	return nil, errors.New("no metadata server")
}
