// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
)

// Credentials finds credentials of the node for images, beside those in secrets and in
// Options.DockerConfig. The plugins of the kubelet, which get them from the cloud
// that the node runs in, are an implementation: see examples/nodeagent/credentialprovider.
type Credentials interface {
	// Credentials returns what to show to the registry of an image, to be tried in
	// turn; none if it knows nothing of that registry. The image is the whole
	// reference: docker.io/library/nginx:1.27. An error counts as none, and is
	// reported with the attempt, if it fails, to those who see NodeImages. It is
	// called at every attempt, by several goroutines.
	Credentials(ctx context.Context, image string) ([]*criv1.AuthConfig, error)
}

// keyring finds the credentials for an attempt.
type keyring struct {
	secrets
	file string // empty for none
	node Credentials
}

func newKeyring(o *Options) *keyring {
	return &keyring{
		secrets: secrets{kubernetes: o.Kubernetes, clock: o.Clock, everywhere: o.ReadSourceSecrets, known: map[v1alpha1.ReferenceObject]knownSecret{}},
		file:    o.DockerConfig, node: o.Credentials,
	}
}

// lookup returns the credentials to try for an image, in turn: those of its
// secrets, then the node's own. The notes say what was left out and why.
func (k *keyring) lookup(ctx context.Context, s *Start) (all []credential, notes []*failure, err error) {
	image, err := images.ParseReference(s.Reference)
	if err != nil {
		return nil, nil, err
	}
	if all, notes, err = k.secrets.of(ctx, s); err != nil {
		return nil, nil, err
	}
	leaveOut := func(err error) {
		klog.FromContext(ctx).Error(err, "Credentials of the node are left out")
		notes = append(notes, failureOf(noNamespace, err, nil))
	}
	own, err := k.own()
	if err != nil {
		leaveOut(err)
	}
	all = matching(append(all, own...), image)
	if k.node == nil {
		return all, notes, nil
	}
	auths, err := k.node.Credentials(ctx, image.Full())
	if err != nil {
		leaveOut(err)
	}
	for _, auth := range auths {
		if auth != nil {
			all = append(all, credential{auth: auth})
		}
	}
	return all, notes, nil
}

// own returns the node's own credentials in the file.
func (k *keyring) own() ([]credential, error) {
	if k.file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(k.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the credentials of the node: %w", err)
	}
	all, err := parseDockerConfig(data)
	if err != nil {
		return nil, fmt.Errorf("file %s %w", k.file, err)
	}
	return all, nil
}
