// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Behaviour says what happens when a node asks for an image. The zero value answers at once.
type Behaviour struct {
	// Delay is how long an answer takes.
	Delay time.Duration
	// Status refuses with this HTTP status: 403, 429, 500 and the like. 0 does not refuse.
	Status int
	// Username and Password are wanted as basic authentication, if one of them is not empty. A request with none or others
	// is answered 401.
	Username, Password string

	// hold is closed when waiting requests may go on.
	hold <-chan struct{}
}

// Behave sets what happens from now on when nodes ask for an image by this name, as Add takes it. Its layers, which are asked
// for by digest, are not held up: a node comes to them only after the name.
func (r *Registry) Behave(name string, b Behaviour) error {
	key, err := keyOf(name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b.hold = r.behaviours[key].hold
	r.behaviours[key] = b
	return nil
}

// Hold makes requests for an image wait, from now on and until release is called. Calling release again does nothing.
func (r *Registry) Hold(name string) (release func(), err error) {
	key, err := keyOf(name)
	if err != nil {
		return nil, err
	}
	hold := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.behaviours[key]
	b.hold = hold
	r.behaviours[key] = b
	return sync.OnceFunc(func() { close(hold) }), nil
}

// act answers as the behaviour of an image says. It returns false when the request has had its answer.
func (r *Registry) act(key string, w http.ResponseWriter, request *http.Request) bool {
	r.mu.Lock()
	b := r.behaviours[key]
	r.waiting[key]++
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting[key]--
	}()
	return b.act(w, request)
}

// act waits and refuses as told. It returns false when the request has had its answer.
func (b Behaviour) act(w http.ResponseWriter, request *http.Request) bool {
	delay := time.NewTimer(b.Delay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-request.Context().Done():
		return false
	}
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-request.Context().Done():
			return false
		}
	}
	switch {
	case b.Status != 0:
		refuse(w, b.Status, "DENIED", "the registry was told to refuse")
		return false
	case !b.allows(request):
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		refuse(w, http.StatusUnauthorized, "UNAUTHORIZED", "authentication required")
		return false
	}
	return true
}

func (b Behaviour) allows(request *http.Request) bool {
	if b.Username == "" && b.Password == "" {
		return true
	}
	username, password, _ := request.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(username+":"+password), []byte(b.Username+":"+b.Password)) == 1
}

// refuse answers with an error as the specification writes it.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
}
