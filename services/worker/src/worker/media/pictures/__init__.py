"""Still pictures: of videos (posters, storyboards) and of image uploads (thumbnails)."""
