package certificates

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Secret keeps the bundle in a Secret, which replicas share. Client and Name
// are required. It is for one goroutine.
type Secret struct {
	// Client is that of the Secret's namespace.
	Client typedcorev1.SecretInterface
	// Name of the Secret.
	Name string
	// Cached returns the Secret without a request, nil when there is none. It
	// may lag behind: a Save that builds on an old state is refused, and after
	// a Save the server is asked once. Default nil: always ask the server.
	Cached func() *corev1.Secret

	askServer bool
}

// Load implements Store.
func (s *Secret) Load(ctx context.Context) (Bundle, string, error) {
	secret, err := s.read(ctx)
	if err != nil {
		return Bundle{}, "", fmt.Errorf("reading the Secret %s of the webhook certificates: %w", s.Name, err)
	}
	if secret == nil {
		return Bundle{}, "", nil
	}
	return FromData(secret.Data), secret.ResourceVersion, nil
}

func (s *Secret) read(ctx context.Context) (*corev1.Secret, error) {
	if s.Cached != nil && !s.askServer {
		return s.Cached(), nil
	}
	secret, err := s.Client.Get(ctx, s.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	s.askServer = false
	if err != nil {
		return nil, nil
	}
	return secret, nil
}

// Save implements Store. Whatever else the Secret holds stays.
func (s *Secret) Save(ctx context.Context, bundle Bundle, version string) error {
	s.askServer = true
	if version == "" {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: s.Name}, Data: bundle.Data()}
		_, err := s.Client.Create(ctx, secret, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return ErrRaced
		}
		return err
	}
	// The resourceVersion makes the server refuse the patch when somebody else was faster.
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]string{"resourceVersion": version},
		"data":     bundle.Data(),
	})
	if err != nil {
		return err
	}
	_, err = s.Client.Patch(ctx, s.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return ErrRaced
	}
	return err
}
