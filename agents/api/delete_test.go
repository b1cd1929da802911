package api_test

import (
	"io"
	"strings"
	"testing"
)

func TestDeleteThread(t *testing.T) {
	s := newServer(t, parrot{})
	for _, who := range []string{"ada", "root"} {
		thread := s.thread("ada")
		path := "/threads/" + thread
		s.do("ada", "POST", path+"/runs/stream", ask("one"))
		s.do("ada", "POST", path+"/runs/stream", ask("two"))
		if status, _, body := s.do(who, "DELETE", path, nil); status != 204 || body != "" {
			t.Fatalf("%s: got %d %s", who, status, body)
		}
		for call, send := range map[string]func() (int, string){
			"again": func() (int, string) { code, _, body := s.do("ada", "DELETE", path, nil); return code, body },
			"join":  func() (int, string) { code, _, body := s.do("ada", "GET", path+"/runs/stream", nil); return code, body },
			"post": func() (int, string) {
				code, _, body := s.do("ada", "POST", path+"/runs/stream", ask("three"))
				return code, body
			},
		} {
			if status, body := send(); status != 404 || !strings.Contains(body, "thread_not_found") {
				t.Errorf("%s, %s: got %d %s", who, call, status, body)
			}
		}
		if _, _, body := s.do("ada", "GET", "/threads/search", nil); strings.Contains(body, thread) {
			t.Errorf("%s: the search still has it: %s", who, body)
		}
	}
	if status, _, body := s.do("ada", "DELETE", "/threads/x", nil); status != 422 {
		t.Errorf("no UUID: got %d %s", status, body)
	}
}

func TestDeleteBusyThread(t *testing.T) {
	s := newServer(t, parrot{make(chan struct{})})
	path := "/threads/" + s.thread("ada")
	resp := s.open("ada", "POST", path+"/runs/stream", ask("wait"))
	defer resp.Body.Close()
	if status, _, body := s.do("ada", "DELETE", path, nil); status != 409 || !strings.Contains(body, "thread_busy") {
		t.Errorf("while a run is active: got %d %s", status, body)
	}
	if status, _, body := s.do("ada", "POST", resp.Header.Get("Content-Location")+"/cancel", nil); status != 202 {
		t.Fatalf("cancelling: got %d %s", status, body)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	if status, _, body := s.do("ada", "DELETE", path, nil); status != 204 {
		t.Errorf("after its end: got %d %s", status, body)
	}
}
