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

	"github.com/cockroachdb/datadriven"
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
	_, err := n.kube.CoreV1().Secrets(secret.Namespace).Create(n.Context(), secret, metav1.CreateOptions{})
	n.Must(err)
}

// refersTo gives an image references to secrets.
func refersTo(image string, secrets ...types.NamespacedName) change {
	return func(n *v1alpha1.NodeImage) {
		of := n.Spec.Images[image]
		for _, secret := range secrets {
			of.PullSecrets = append(of.PullSecrets, v1alpha1.ReferenceObject{Namespace: secret.Namespace, Name: secret.Name})
		}
		n.Spec.Images[image] = of
	}
}

// doAboutSecrets does what a line of a script says of secrets, and of what has been asked for.
func (p *player) doAboutSecrets(d *datadriven.TestData, args []string) {
	p.Helper()
	switch d.Cmd {
	case "asks":
		text, err := os.ReadFile("testdata/managers/" + args[0])
		p.Must(err)
		p.edit(func(n *v1alpha1.NodeImage) {
			patches.Merge(p.T, &n.Spec, strings.ReplaceAll(string(text), "NOW", time.Now().UTC().Format(time.RFC3339)))
		})
	case "edit":
		p.edit(func(n *v1alpha1.NodeImage) { patches.Merge(p.T, n, d.Input) })
	case "secrets", "refer":
		for _, secret := range args[1:] {
			if d.Cmd == "refer" {
				p.edit(refersTo(args[0], named(secret)))
			} else {
				p.edit(refersTo(args[0], copyOf(secret)))
			}
		}
	case "mode":
		p.edit(func(n *v1alpha1.NodeImage) {
			for i := range n.Spec.Images[args[0]].PullSecrets {
				n.Spec.Images[args[0]].PullSecrets[i].Mode = args[1]
			}
		})
	case "copy":
		p.createSecret(copyOf(args[0]), args[1], args[2], args[0])
	case "secret":
		_, source, _ := strings.Cut(strings.Join(args[3:], ""), "of=")
		of := named(args[0])
		if lies, is := strings.CutPrefix(args[0], "copy-of-"); is {
			of = copyOf(lies)
		}
		p.createSecret(of, args[1], args[2], source)
	case "no-copy":
		of := copyOf(args[0])
		p.Must(p.kube.CoreV1().Secrets(of.Namespace).Delete(p.Context(), of.Name, metav1.DeleteOptions{}))
	case "only":
		p.only = args[0]
	case "locked":
		p.locked = true
	case "fail-secrets":
		err := map[string]error{
			"away":      apierrors.NewServiceUnavailable("away"),
			"forbidden": apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "one", errors.New("no")),
		}[args[0]]
		p.Server.FailBefore(func(r fakecluster.Request) error {
			if r.User == p.user() && r.Resource == "secrets" {
				return err
			}
			return nil
		})
	case "option":
		switch args[0] {
		case "read-source-secrets":
			p.options.ReadSourceSecrets = true
		case "credentials":
			p.options.Credentials = &p.clouds
		case "docker-config":
			p.options.DockerConfig = filepath.Join(p.TempDir(), "config.json")
			p.Must(os.WriteFile(p.options.DockerConfig, dockerConfig("quay.io", "node"), 0o600))
		}
	default:
		p.Fatalf("no such line: %s", d.Cmd)
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

// take returns what was asked for since the last time.
func (c *clouds) take() []string {
	asked := c.asked
	c.asked = nil
	return asked
}
