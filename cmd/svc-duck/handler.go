//go:build cgo && linux

package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// handler answers on the socket, which only the owner of the data folder can open.
func (w *writer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+duckwire.PathSnapshot, func(rw http.ResponseWriter, r *http.Request) {
		age, err := strconv.ParseInt(r.URL.Query().Get("max_age_ms"), 10, 64)
		if err != nil || age < 0 {
			refuse(rw, duckwire.Faultf(duckwire.CodeBadRequest, "max_age_ms must be a number of milliseconds"))
			return
		}
		s, err := w.snapshot(r.Context(), time.Duration(age)*time.Millisecond)
		reply(rw, s, err)
	})
	mux.HandleFunc("POST "+duckwire.PathImport, func(rw http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		done, err := w.load(r.Context(), file{
			name: q.Get("name"), table: q.Get("table"), format: q.Get("format"), mode: q.Get("mode"), headless: q.Get("header") == "false", body: r.Body,
		})
		reply(rw, done, err)
	})
	mux.HandleFunc("POST "+duckwire.PathMessages, func(rw http.ResponseWriter, r *http.Request) {
		keep, err := strconv.ParseInt(r.URL.Query().Get("keep_ms"), 10, 64)
		if err != nil || keep < 0 {
			refuse(rw, duckwire.Faultf(duckwire.CodeBadRequest, "keep_ms must be a number of milliseconds"))
			return
		}
		done, err := w.addMessages(r.Context(), r.URL.Query().Get("table"), time.Duration(keep)*time.Millisecond, r.Body)
		reply(rw, done, err)
	})
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set(duckwire.VersionHeader, compat.Version)
		rw.Header().Set("Content-Type", "application/json")
		if err := compat.Check(r.Header.Get(duckwire.VersionHeader)); err != nil {
			refuse(rw, duckwire.Faultf(duckwire.CodeVersion, "%v", err))
			return
		}
		mux.ServeHTTP(rw, r)
	})
}

func reply(rw http.ResponseWriter, doc any, err error) {
	if err == nil {
		_ = json.NewEncoder(rw).Encode(doc)
		return
	}
	f, ok := errors.AsType[*duckwire.Fault](err)
	if !ok {
		f = duckwire.Faultf(duckwire.CodeUnavailable, "%v", err)
	}
	refuse(rw, f)
}

func refuse(rw http.ResponseWriter, f *duckwire.Fault) {
	status := http.StatusUnprocessableEntity
	switch f.Code {
	case duckwire.CodeBadRequest:
		status = http.StatusBadRequest
	case duckwire.CodeVersion:
		status = http.StatusUpgradeRequired
	case duckwire.CodeExists:
		status = http.StatusConflict
	case duckwire.CodeUnavailable:
		status = http.StatusServiceUnavailable
	}
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(f)
}
