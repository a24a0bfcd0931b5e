package certificates

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrRaced tells that another replica has written in the meantime: load again.
var ErrRaced = errors.New("another replica has written the certificates")

// Store keeps a bundle for the next start and for other replicas.
type Store interface {
	// Load returns the stored bundle, which is empty when there is none, and
	// the version that a Save replaces.
	Load(ctx context.Context) (bundle Bundle, version string, err error)
	// Save replaces that version. It returns ErrRaced, and writes nothing, when
	// something else stands there now.
	Save(ctx context.Context, bundle Bundle, version string) error
}

// Ensure returns the bundle of the store, after renewing it where it is not
// good for the host at that time. Replicas that start together agree on the
// bundle that was saved first.
func Ensure(ctx context.Context, store Store, host string, now time.Time) (Bundle, error) {
	for range 5 {
		bundle, version, err := store.Load(ctx)
		if err != nil {
			return Bundle{}, err
		}
		reason := bundle.Check(host, now)
		if reason == nil {
			return bundle, nil
		}
		if bundle, err = Renew(bundle, host, now); err != nil {
			return Bundle{}, err
		}
		err = store.Save(ctx, bundle, version)
		if err == nil {
			return bundle, nil
		}
		if !errors.Is(err, ErrRaced) {
			return Bundle{}, fmt.Errorf("saving new webhook certificates (%w): %w", reason, err)
		}
	}
	return Bundle{}, ErrRaced
}
